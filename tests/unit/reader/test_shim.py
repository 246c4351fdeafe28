"""Thinc's torch wrapper: whoever keeps something of the weights learns of changes."""

import torch
from thinc.api import Adam
from torch import nn

from refreader_spacy.reader.shim import ReaderShim


def make_shim() -> ReaderShim:
    torch.manual_seed(0)
    return ReaderShim(nn.Linear(2, 1))


def test_a_step_is_a_new_version():
    shim = make_shim()
    before, version = shim._model.weight.detach().clone(), shim.version
    shim._model(torch.ones(1, 2)).sum().backward()
    assert shim.version == version
    shim.finish_update(Adam(0.1))
    assert shim.version > version
    assert not torch.equal(shim._model.weight, before)


def test_averages_are_a_version_and_so_is_their_end():
    shim = make_shim()
    before = shim._model.weight.detach().clone()
    versions = [shim.version]
    with shim.use_params({(shim.id, "weight"): before.numpy() + 1}):
        versions.append(shim.version)
        torch.testing.assert_close(shim._model.weight.detach(), before + 1)
    versions.append(shim.version)
    assert versions == sorted({*versions})
    torch.testing.assert_close(shim._model.weight.detach(), before)


def test_loading_and_moving_are_new_versions():
    shim, other = make_shim(), ReaderShim(nn.Linear(2, 1))
    version = other.version
    other.from_bytes(shim.to_bytes())
    assert other.version > version
    torch.testing.assert_close(other._model.weight, shim._model.weight)
    version = other.version
    other.to_device("cpu", 0)
    assert other.version > version
