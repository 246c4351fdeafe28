"""Weights as the package keeps them: small, and nearly what they were."""

import numpy as np
import spacy
from thinc.api import Config

from refreader_spacy.component import PACKAGED
from refreader_spacy.pretraining.language_model import OUTPUT
from refreader_spacy.reader import packaged
from refreader_spacy.reader.packaged import build_packaged_reader_v1, write_packaged

TEXT = "Ann Lee met Bo because she was late."


def test_weights_that_were_made_small_read_nearly_the_same(tmp_path, monkeypatch):
    """The package's own, as they are and once more."""
    nlp = spacy.blank("en")
    model = nlp.add_pipe("refreader").model
    doc = nlp.make_doc(TEXT)
    (before,) = model.predict([doc])
    folder = packaged.files("refreader_spacy") / "weights" / PACKAGED["name"]
    config = Config().from_disk(folder / "config.cfg")["model"]
    model.attrs[OUTPUT] = b"useless"
    card = {"threshold": 0.4, "description": "small"}
    write_packaged(model, config, card, tmp_path / "weights" / "small")
    monkeypatch.setattr(packaged, "files", lambda name: tmp_path)
    again = build_packaged_reader_v1("small")
    assert OUTPUT not in again.attrs
    assert again.attrs["threshold"] == 0.4
    (after,) = again.predict([doc])
    assert after.mentions.head.tolist() == before.mentions.head.tolist()
    assert after.mentions.entity.tolist() == before.mentions.entity.tolist()
    np.testing.assert_allclose(
        after.mentions.probability, before.mentions.probability, atol=0.02
    )
    size = (tmp_path / "weights" / "small" / "model").stat().st_size
    assert size < 1.01 * (folder / "model").stat().st_size
