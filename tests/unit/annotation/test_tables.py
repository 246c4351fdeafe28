import csv

import numpy as np
import pytest
from marked import marked

from refreader_spacy.annotation.extensions import encoded, write_trace
from refreader_spacy.annotation.tables import csv_lines, mention_rows, token_rows
from refreader_spacy.protocol import Reading


@pytest.fixture
def doc():
    doc = marked('[a:Mary] saw [b:[a:her] dog]. [b:"Rex"] bit.', {"a": "person"})
    doc.spans["coref_clusters_1"].attrs["links"] = [[0, 1, 0.75]]
    return doc


def test_a_row_per_mention(doc):
    rows = mention_rows(doc, "x1")
    assert [(row.mention, row.cluster, row.text) for row in rows] == [
        (1, 1, "Mary"),
        (2, 2, "her dog"),
        (3, 1, "her"),
        (4, 2, '"Rex"'),
    ]
    her = rows[2]
    assert (her.doc, her.antecedent, her.antecedent_text) == ("x1", 1, "Mary")
    assert (her.distance, her.probability, her.sentence) == (2, 0.75, 1)
    assert (her.kind, her.type, her.main) == ("pronoun", "person", "Mary")
    dog = rows[1]
    assert (dog.start, dog.end, dog.head, dog.head_text) == (2, 4, 3, "dog")
    assert (dog.start_char, dog.end_char, dog.main) == (9, 16, '"Rex"')
    assert dog.antecedent is dog.distance is dog.probability is None
    assert rows[3].sentence == 2


def test_a_row_per_token_has_the_innermost_mention(doc):
    rows = list(token_rows(doc))
    assert [row.text for row in rows] == [token.text for token in doc]
    assert [row.cluster for row in rows] == [1, None, 1, 2, None, 2, 2, 2, None, None]
    assert [row.token for row in rows if row.is_head] == [0, 2, 3, 6]
    assert (rows[2].antecedent, rows[2].distance) == (1, 2)
    assert rows[0].surprisal is rows[0].update is rows[0].cell is None


def test_gates_and_surprisal_are_in_the_tokens_rows(doc):
    rng = np.random.default_rng(0)
    trace = Reading(*rng.random((3, len(doc), 2), dtype=np.float32))
    write_trace(doc, trace)
    bits = np.arange(len(doc), dtype=np.float32)
    doc.spans["coref_read"].attrs["surprisal"] = encoded(bits)
    row = list(token_rows(doc))[3]
    assert row.surprisal == 3.0
    assert row.update == pytest.approx(trace.update[3].sum())
    assert row.overwrite == pytest.approx(trace.overwrite[3].sum())
    assert row.salience == trace.salience[3].max()
    assert row.cell in (0, 1)


def test_csv_can_be_read_again(doc):
    for rows in (mention_rows(doc), list(token_rows(doc))):
        table = list(csv.DictReader(csv_lines(rows)))
        assert [row["text"] for row in table] == [row.text for row in rows]
        assert table[0]["antecedent"] == ""
        assert len(list(csv_lines(rows, header=False))) == len(rows)


def test_an_empty_doc_has_no_rows():
    assert list(csv_lines(token_rows(marked("")))) == mention_rows(marked("")) == []
