"""Docs in blocks."""

import numpy as np

from refreader_spacy import batching
from refreader_spacy.batching import read_docs


def test_long_docs_are_read_in_blocks_as_in_one_go(reader_nlp, monkeypatch):
    pipe = reader_nlp.get_pipe("refreader")
    # No sentence twice, which would make ties that rounding decides
    texts = (f"Ann met Bo Lee - Bo-Lee said she can't go {i} times." for i in range(40))
    doc = reader_nlp.make_doc(" ".join(texts))
    (whole,) = read_docs(pipe.model, [doc], gates=True)
    monkeypatch.setattr(batching, "BLOCK", 50)
    (blocks,) = read_docs(pipe.model, [doc], gates=True)
    assert blocks.mentions.entity.tolist() == whole.mentions.entity.tolist()
    assert {*zip(blocks.closed, blocks.ends, strict=True)} == {
        *zip(whole.closed, whole.ends, strict=True)
    }
    np.testing.assert_allclose(blocks.gates.update, whole.gates.update, atol=1e-4)
