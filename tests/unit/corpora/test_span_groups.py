from spacy.tokens import Span, SpanGroup

from refreader_spacy.corpora.span_groups import gold_clusters


def test_singletons_may_be_together_in_one_group(nlp):
    doc = nlp.make_doc("Ann saw Bo and Cy and she left")
    doc.spans["coref_clusters_1"] = [doc[0:1], doc[6:7]]
    doc.spans["coref_clusters_single"] = SpanGroup(
        doc, spans=[Span(doc, 2, 3), Span(doc, 4, 5)], attrs={"heads": [2, 4]}
    )
    doc.spans["coref_clusters_other"] = [doc[1:2]]
    found = gold_clusters(doc, "coref_clusters")
    assert [[span.text for span in each.spans] for each in found] == [
        ["Ann", "she"],
        ["Bo"],
        ["Cy"],
    ]
    assert [each.attrs.get("heads") for each in found] == [None, [2], [4]]
