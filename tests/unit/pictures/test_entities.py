from refreader_spacy.annotation.extensions import write_clusters
from refreader_spacy.decoding.clusters import Cluster, Mention
from refreader_spacy.pictures.entities import entities, entity_name


def test_an_entity_is_called_by_the_mention_that_says_most(nlp):
    doc = nlp.make_doc("Her brother Tom Weber left and he slept")
    places = ((0, 2, 1), (2, 4, 3), (6, 7, 6))  # start, end, head
    cluster = Cluster([Mention(*place, 0) for place in places], [])
    write_clusters(doc, [cluster], prefix="coref_clusters", keep_singletons=False)
    (entity,), _ = entities(doc)
    assert entity.name == "Tom Weber"
    spans = [doc[start:end] for start, end, _ in places]
    assert entity_name(spans, [1, 3, 6]) == "Tom Weber"
    assert entity_name(spans[::2], [1, 6]) == "Her brother"
