"""A transformer under the reader, with tiny ones made by the tests."""

import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import spacy
import torch
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc

from refreader_spacy.transformer import (
    build_transformer_layers_v1,
    build_transformer_v1,
)

pytest.importorskip("spacy_transformers")
from transformers import AutoModel, AutoTokenizer

from refreader_spacy.transformer.heap import trim_heap
from refreader_spacy.transformer.pieces import (
    Pieces,
    pieces_of_text,
    pieces_of_tokens,
    windows,
)
from refreader_spacy.transformer.pipe import use_store

TEXTS = [
    "Ann can't stay, Bo said.",
    'He said: "I left."  She\n\nnodded…',
    "Zoë's naïve café",
    "Late",
]
kinds = pytest.mark.parametrize("kind", ["bert", "roberta", "gpt2", "llama"])
CAUSAL = ["gpt2", "llama"]
causal_kinds = pytest.mark.parametrize("kind", CAUSAL)


def docs_of(*texts: str) -> list[Doc]:
    nlp = spacy.blank("en")
    return [nlp.make_doc(text) for text in texts]


def started(name: Path, **settings):
    settings = {"layers": [1, 2], "window": 32, "stride": 16, **settings}
    model = build_transformer_v1(str(name), **settings)
    model.initialize()
    return model


def vectors_of(model, docs) -> list[np.ndarray]:
    data = model.predict(docs).doc_data
    return [each.model_output.last_hidden_state for each in data]


def tokenizer_of(folder: Path):
    return AutoTokenizer.from_pretrained(folder)


# Word pieces and windows


@kinds
@pytest.mark.parametrize("text", TEXTS)
def test_a_token_has_the_pieces_that_share_a_character_with_it(kind, text, tiny):
    tokenizer = tokenizer_of(tiny(kind))
    (doc,) = docs_of(text)
    ((ids, first, stop),) = pieces_of_text(tokenizer, [doc])
    cut = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    assert ids.tolist() == cut["input_ids"]
    for token, a, b in zip(doc, first, stop, strict=True):
        own = set(range(token.idx, token.idx + len(token)))
        shared = [
            i
            for i, (s, e) in enumerate(cut["offset_mapping"])
            if own & set(range(s, e))
        ]
        assert list(range(a, b)) == shared


@pytest.mark.parametrize("kind", ["roberta", "gpt2"])
@pytest.mark.parametrize("text", TEXTS)
def test_pieces_of_a_token_by_itself_spell_it(kind, text, tiny):
    tokenizer = tokenizer_of(tiny(kind))
    (doc,) = docs_of(text)
    ((ids, first, stop),) = pieces_of_tokens(tokenizer, [doc])
    spelled = [tokenizer.decode(ids[a:b]) for a, b in zip(first, stop, strict=True)]
    before = ["", *(token.whitespace_ for token in doc)]
    assert spelled == [b + t.text for b, t in zip(before, doc, strict=False)]


def test_an_empty_doc_has_no_pieces(tiny):
    docs = docs_of("", "Bo", "")
    for cut in (pieces_of_text, pieces_of_tokens):
        first, _, last = cut(tokenizer_of(tiny("gpt2")), docs)
        assert [len(part) for part in (*first, *last)] == [0] * 6
        assert list(cut(tokenizer_of(tiny("gpt2")), [])) == []


@st.composite
def some_pieces(draw):
    lengths = draw(st.lists(st.integers(0, 4), max_size=40))
    stop = np.cumsum(lengths, dtype=np.int64)
    return Pieces(np.arange(sum(lengths)), stop - np.array(lengths, dtype=int), stop)


@given(some_pieces(), st.integers(8, 12), st.integers(1, 5), st.booleans())
def test_each_token_is_read_in_one_window_with_all_its_pieces(
    pieces, overlap, stride, lookahead
):
    found = list(windows(pieces, overlap + stride, stride, lookahead))
    tokens = np.concatenate([[], *(window.tokens for window in found)])
    assert sorted(tokens) == list(range(len(pieces.first)))
    for window in found:
        assert len(window.ids) <= overlap + stride
        for token, a, b in zip(window.tokens, window.first, window.stop, strict=True):
            expected = range(pieces.first[token], pieces.stop[token])
            assert window.ids[a:b].tolist() == list(expected)


@given(some_pieces(), st.integers(0, 40))
def test_without_lookahead_what_follows_changes_no_window(pieces, n_tokens):
    def context(pieces):
        return {
            token: window.ids[:stop].tolist()
            for window in windows(pieces, 8, 4, lookahead=False)
            for token, stop in zip(window.tokens, window.stop, strict=True)
        }

    first, stop = pieces.first[:n_tokens], pieces.stop[:n_tokens]
    prefix = Pieces(pieces.ids[: stop.max(initial=0)], first, stop)
    whole = context(pieces)
    assert context(prefix) == {token: whole[token] for token in range(len(first))}


def test_in_the_middle_of_a_text_a_token_sees_both_sides():
    pieces = Pieces(np.arange(100), np.arange(100), np.arange(1, 101))
    for window in windows(pieces, size=32, stride=16, lookahead=True):
        for token, place in zip(window.tokens, window.first, strict=True):
            assert place >= 8 or token < 24
            assert len(window.ids) - place > 8 or token >= 76


# Vectors


@kinds
def test_vectors_are_means_over_pieces_of_the_chosen_layers(kind, tiny):
    (doc,) = docs_of(TEXTS[0])
    (vectors,) = vectors_of(started(tiny(kind), layers=[2, 1]), [doc])
    tokenizer = tokenizer_of(tiny(kind))
    whole = AutoModel.from_pretrained(tiny(kind)).eval()
    text = tokenizer(doc.text, return_tensors="pt", return_offsets_mapping=True)
    offsets = text.pop("offset_mapping")[0].tolist()
    with torch.no_grad():
        states = whole(**text, output_hidden_states=True).hidden_states
    for token, vector in zip(doc, vectors, strict=True):
        end = token.idx + len(token)
        own = [i for i, (a, b) in enumerate(offsets) if a < end and b > token.idx]
        for layer, part in zip((2, 1), np.split(vector, 2), strict=True):
            mean = states[layer][0, own].mean(dim=0).detach()
            expected = (mean - mean.mean()) / mean.std(correction=0)
            np.testing.assert_allclose(part, expected, atol=5e-3)


@kinds
def test_layers_above_the_highest_chosen_one_are_not_there(kind, tiny):
    model = started(tiny(kind), layers=[0, 2])
    transformer = model.shims[0]._model.transformer
    stacks = [m for m in transformer.modules() if isinstance(m, torch.nn.ModuleList)]
    assert [len(stack) for stack in stacks if len(stack) > 1] == [2]
    assert model.get_dim("nO") == 16


@kinds
def test_batching_changes_nothing(kind, tiny):
    model = started(tiny(kind), lookahead=kind not in CAUSAL)
    docs = docs_of(*TEXTS, "", " ".join(TEXTS * 8))
    for doc, together in zip(docs, vectors_of(model, docs), strict=True):
        (alone,) = vectors_of(model, [doc])
        assert together.shape == (len(doc), 16)
        assert together.dtype == np.float32
        np.testing.assert_allclose(alone, together, atol=5e-3)


@causal_kinds
def test_a_vector_may_be_that_of_the_last_piece(kind, tiny):
    (doc,) = docs_of(TEXTS[2])
    model = started(tiny(kind), layers=[2], lookahead=False, pooling="last")
    (vectors,) = vectors_of(model, [doc])
    tokenizer = tokenizer_of(tiny(kind))
    ((ids, first, stop),) = pieces_of_tokens(tokenizer, [doc])
    assert (stop - first > 1).any()
    begin = model.shims[0].loaded.prefix
    whole = AutoModel.from_pretrained(tiny(kind)).eval()
    with torch.no_grad():
        pieces = torch.tensor([[*begin, *ids]])
        states = whole(pieces, output_hidden_states=True).hidden_states[2][0]
    last = states[len(begin) :][stop - 1]
    expected = torch.nn.functional.layer_norm(last, last.shape[1:])
    np.testing.assert_allclose(vectors, expected, atol=5e-3)


@pytest.mark.parametrize("pooling", ["mean", "last"])
def test_a_token_without_pieces_has_the_vector_zero(pooling, tiny):
    (doc,) = docs_of("Ann \n\n met")
    (vectors,) = vectors_of(started(tiny("bert"), pooling=pooling), [doc])
    blank = [token.is_space for token in doc]
    assert any(blank)
    assert [not vector.any() for vector in vectors] == blank


def test_a_long_text_is_read_in_windows(tiny):
    """A word far away changes nothing, one in the same window does."""
    model = started(tiny("bert"))
    words = ["Ann", "met", "Bo", "."] * 30
    first, second = (
        Doc(spacy.blank("en").vocab, words=[*words[:119], last]) for last in (".", "!")
    )
    a, b = vectors_of(model, [first, second])
    np.testing.assert_array_equal(a[:80], b[:80])
    assert np.abs(a[110:119] - b[110:119]).max() > 0.01


@causal_kinds
@pytest.mark.parametrize("pooling", ["mean", "last"])
@pytest.mark.parametrize("text", [*TEXTS[:3], " ".join(TEXTS * 4)])
def test_a_causal_transformer_knows_only_what_came_before(kind, pooling, text, tiny):
    """Each prefix has the vectors of the whole, though pieces of the text differ."""
    model = started(tiny(kind), lookahead=False, pooling=pooling)
    (doc,) = docs_of(text)
    (whole,) = vectors_of(model, [doc])
    prefixes = [doc[:n].as_doc() for n in range(1, len(doc))]
    for prefix, vectors in zip(prefixes, vectors_of(model, prefixes), strict=True):
        np.testing.assert_allclose(vectors, whole[: len(prefix)], atol=5e-3)


def test_pieces_of_the_text_would_know_more(tiny):
    """Why a causal transformer gets each token by itself."""
    tokenizer = tokenizer_of(tiny("gpt2"))
    (doc,) = docs_of('and he was not."')
    assert [token.text for token in doc[-3:]] == ["not", ".", '"']
    ((_, *places),) = pieces_of_text(tokenizer, [doc])
    *_, dot, quote = zip(*places, strict=True)
    assert dot == quote


def test_one_that_looks_ahead_is_refused_where_none_may(tiny):
    with pytest.raises(ValueError, match=r"R308.*bert.*lookahead = true"):
        started(tiny("bert"), lookahead=False)


# Features on disk


def test_a_store_changes_nothing(tiny, tmp_path):
    docs = docs_of(*TEXTS, "", TEXTS[0])
    plain, kept = started(tiny("bert")), started(tiny("bert"))
    use_store(kept, tmp_path)
    for expected in (vectors_of(plain, docs), vectors_of(plain, docs)):
        for a, b in zip(expected, vectors_of(kept, docs), strict=True):
            np.testing.assert_array_equal(a, b)


def test_a_stored_doc_is_not_read_again(tiny, tmp_path, monkeypatch):
    model = started(tiny("bert"))
    store = use_store(model, tmp_path)
    docs = docs_of(*TEXTS)
    assert store.missing(docs) == docs
    vectors_of(model, docs[1:])
    assert store.missing(docs) == docs[:1]
    seen = []
    monkeypatch.setattr(
        model.shims[0]._model, "forward", lambda ids, *_: seen.append(ids)
    )
    vectors_of(model, docs[1:])
    assert seen == []


def test_other_tokens_of_the_same_text_are_another_doc(tiny, tmp_path):
    vocab = spacy.blank("en").vocab
    model = started(tiny("bert"))
    use_store(model, tmp_path)
    one, two = Doc(vocab, ["cannot"]), Doc(vocab, ["can", "not"], [False, True])
    assert [len(v) for v in vectors_of(model, [one, two])] == [1, 2]


@pytest.mark.parametrize(
    "other",
    [
        {"layers": [1]},
        {"layers": [2, 1]},
        {"window": 16},
        {"stride": 8},
        {"pooling": "last"},
    ],
)
def test_other_settings_have_a_store_of_their_own(other, tiny, tmp_path):
    stores = [
        use_store(started(tiny("bert"), **settings), tmp_path)
        for settings in ({}, {}, other)
    ]
    assert stores[0].folder == stores[1].folder != stores[2].folder


def test_other_weights_have_a_store_of_their_own(tiny, tmp_path):
    model = started(tiny("bert"))
    changed = AutoModel.from_pretrained(tiny("bert"))
    with torch.no_grad():
        changed.encoder.layer[0].output.dense.bias[0] += 1e-3
    shutil.copytree(tiny("bert"), tmp_path / "changed")
    changed.save_pretrained(tmp_path / "changed")
    other = started(tmp_path / "changed")
    assert use_store(model, tmp_path).folder != use_store(other, tmp_path).folder


def test_a_transformer_that_learns_has_no_store(tiny, tmp_path):
    model = started(tiny("bert"), trained_layers=1, save_weights=True)
    with pytest.raises(ValueError, match=r"R310.*1 of its.*keep_features.*= 0"):
        use_store(model, tmp_path)


def test_a_store_has_no_surprisals(tiny, tmp_path):
    model = started(tiny("llama"), lookahead=False, surprisal=True)
    with pytest.raises(ValueError, match=r"R310.*surprisal.*surprisal = false"):
        use_store(model, tmp_path)


# Saving


def test_a_saved_model_names_its_transformer(tiny, tmp_path):
    folder = shutil.copytree(tiny("bert"), tmp_path / "bert")
    model = started(folder)
    data = model.to_bytes()
    assert len(data) < 1000
    again = build_transformer_v1(str(folder), [1, 2], 32, 16).from_bytes(data)
    docs = docs_of(*TEXTS)
    for a, b in zip(vectors_of(model, docs), vectors_of(again, docs), strict=True):
        np.testing.assert_array_equal(a, b)
    shutil.rmtree(folder)
    with pytest.raises(ValueError, match=r"R301.*hub.*folder on this machine"):
        build_transformer_v1(str(folder), [1, 2], 32, 16).from_bytes(data)


def test_another_transformer_of_that_name_is_refused(tiny):
    data = started(tiny("bert")).to_bytes()
    with pytest.raises(ValueError, match=r"R311.*roberta.*isn't the one"):
        build_transformer_v1(str(tiny("roberta")), [1, 2], 32, 16).from_bytes(data)


@kinds
def test_a_saved_model_may_include_its_transformer(kind, tiny):
    model = started(tiny(kind), save_weights=True)
    data = model.to_bytes()
    again = build_transformer_v1(
        "nowhere", [1, 2], window=32, stride=16, save_weights=True
    ).from_bytes(data)
    docs = docs_of(*TEXTS)
    for a, b in zip(vectors_of(model, docs), vectors_of(again, docs), strict=True):
        np.testing.assert_array_equal(a, b)


# Learning


def trained(model) -> set[str]:
    parameters = model.shims[0]._model.transformer.named_parameters()
    return {name for name, parameter in parameters if parameter.requires_grad}


@kinds
@pytest.mark.parametrize("n", [0, 1, 2])
def test_the_highest_layers_are_trained(kind, n, tiny):
    model = started(tiny(kind), trained_layers=n, save_weights=True)
    stack = {"gpt2": "h.", "llama": "layers."}.get(kind, "encoder.layer.")
    layers = {f"{stack}{i}." for i in range(2 - n, 2)}
    found = trained(model)
    assert {name for name in found if not name.startswith(tuple(layers))} == (
        found if n == 0 else {x for x in found if n == 2 and not x.startswith(stack)}
    )
    assert bool(found) == (n > 0)
    assert any("emb" in x or x.startswith("wte") for x in found) == (n == 2)


def test_the_gradient_is_that_of_autograd(tiny):
    model = started(tiny("bert"), trained_layers=2, save_weights=True)
    docs = docs_of(*TEXTS, "", " ".join(TEXTS * 6))
    result, backprop = model.begin_update(docs)
    shapes = [data.model_output.last_hidden_state.shape for data in result.doc_data]
    rng = np.random.default_rng(0)
    d_vectors = [rng.normal(size=shape).astype("f") for shape in shapes]
    backprop(result.unsplit_by_doc([[d] for d in d_vectors]))
    weight = model.shims[0]._model.transformer.encoder.layer[0].output.dense.weight
    found = weight.grad[0, 0].item()

    def loss() -> float:
        vectors, _ = model.begin_update(docs)
        pairs = zip(vectors.doc_data, d_vectors, strict=True)
        return sum(
            float((v.model_output.last_hidden_state.astype("d") * d).sum())
            for v, d in pairs
        )

    with torch.no_grad():
        weight[0, 0] += 1e-3
        above = loss()
        weight[0, 0] -= 2e-3
        below = loss()
    assert found == pytest.approx((above - below) / 2e-3, rel=0.02, abs=1e-2)


def test_the_transformer_learns_at_a_rate_of_its_own(tiny):
    from thinc.api import Adam

    steps = []
    for factor in (1.0, 0.1):
        model = started(
            tiny("bert"),
            trained_layers=1,
            save_weights=True,
            learn_rate_factor=factor,
        )
        weight = model.shims[0]._model.transformer.encoder.layer[1].output.dense.weight
        before = weight.detach().clone()
        torch.manual_seed(0)
        result, backprop = model.begin_update(docs_of(TEXTS[0]))
        (data,) = result.doc_data
        ones = np.cumsum(np.ones_like(data.model_output.last_hidden_state), axis=0)
        backprop(result.unsplit_by_doc([[ones**2 * np.sin(np.arange(16))]]))
        model.finish_update(Adam(0.01, grad_clip=0.0))
        weight = model.shims[0]._model.transformer.encoder.layer[1].output.dense.weight
        steps.append((weight.detach() - before).abs().median().item())
    assert steps[0] == pytest.approx(0.01, rel=0.05)
    assert steps[1] == pytest.approx(0.001, rel=0.05)


# Half as many digits


@pytest.fixture(params=[True, False])
def bfloat16(request, monkeypatch) -> bool:
    """Does the machine have it?"""
    name = "refreader_spacy.transformer.hidden.has_bfloat16"
    monkeypatch.setattr(name, lambda _: request.param)
    return request.param


def test_mixed_precision_gives_about_the_same_where_there_is_any(tiny, bfloat16):
    docs = docs_of(*TEXTS)
    exact, mixed = (
        np.concatenate(vectors_of(started(tiny("bert"), mixed_precision=m), docs))
        for m in (False, True)
    )
    assert mixed.dtype == np.float32
    np.testing.assert_allclose(mixed, exact, atol=0.1)
    assert np.array_equal(mixed, exact) == (not bfloat16)


@pytest.mark.usefixtures("bfloat16")
def test_mixed_precision_learns_in_full(tiny):
    options = {"trained_layers": 1, "save_weights": True}
    gradients = []
    for mixed in (False, True):
        model = started(tiny("bert"), mixed_precision=mixed, **options)
        model.shims[0]._model.eval()
        result, backprop = model.begin_update(docs_of(*TEXTS))
        given = [data.model_output.last_hidden_state for data in result.doc_data]
        backprop(
            result.unsplit_by_doc(
                [[np.sin(np.cumsum(x * 0 + 1)).reshape(x.shape)] for x in given]
            )
        )
        dense = model.shims[0]._model.transformer.encoder.layer[1].output.dense
        gradients.append(dense.weight.grad)
    exact, mixed_one = gradients
    assert mixed_one.dtype == torch.float32
    assert torch.corrcoef(torch.stack([exact.ravel(), mixed_one.ravel()]))[0, 1] > 0.99


def test_vectors_of_another_precision_are_not_taken_for_the_same(tiny):
    prints = {
        started(tiny("bert"), mixed_precision=mixed).shims[0].fingerprint
        for mixed in (False, True)
    }
    assert len(prints) == 2


# What goes wrong


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"surprisal": True}, r"R316.*lookahead = false"),
        ({"layers": []}, r"R302.*such as \[5, 6, 7, 8\].*found \[\]"),
        ({"layers": [2, 2]}, r"R302.*each once"),
        ({"layers": [-1]}, r"R302"),
        ({"stride": 33}, r"R303.*32.*33"),
        ({"stride": 0}, r"R303"),
        ({"trained_layers": 3, "save_weights": True}, r"R304.*3 .*number 2"),
        ({"trained_layers": 1}, r"R305.*save_weights = true"),
        ({"layers": [4]}, r"R307.*has 3 layers.*\[4\]"),
        ({"window": 63}, r"R309.*at most 62.*63"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings, message, tiny):
    with pytest.raises(ValueError, match=message):
        started(tiny("bert"), **settings)


@pytest.mark.parametrize("name", ["no/such-transformer", "/no/such/folder/there"])
def test_a_transformer_that_is_not_there_is_missed_in_both_places(name, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ValueError, match=rf"R301.*{name}.*hub.*online.*folder"):
        started(Path(name))


def test_a_folder_without_weights_is_refused(tiny, tmp_path):
    folder = shutil.copytree(tiny("bert"), tmp_path / "bert")
    (folder / "model.safetensors").unlink()
    with pytest.raises(ValueError, match=r"R301.*bert"):
        started(folder)


def test_an_encoder_and_decoder_is_refused(tiny, tmp_path):
    from transformers import BartConfig

    folder = shutil.copytree(tiny("roberta"), tmp_path / "bart")
    BartConfig().save_pretrained(folder)
    with pytest.raises(ValueError, match=r"R306.*encoder and a decoder"):
        started(folder)


@pytest.mark.parametrize("missing", ["spacy_transformers", "transformers"])
def test_without_the_extra_it_is_said_what_to_install(missing, monkeypatch):
    for name in list(sys.modules):
        if name.startswith("refreader_spacy.transformer."):
            monkeypatch.delitem(sys.modules, name)
        if name.partition(".")[0] == missing:
            monkeypatch.setitem(sys.modules, name, None)
    for build in (
        lambda: build_transformer_v1("any", [1]),
        lambda: build_transformer_layers_v1(8),
    ):
        with pytest.raises(ImportError, match=r"R300.*refreader-spacy\[transformers\]"):
            build()


@pytest.mark.skipif(sys.platform != "linux", reason="a matter of glibc")
def test_memory_between_blocks_in_use_goes_back():
    def used() -> int:  # kB; the table of pages itself, as quick counters lag behind
        rollup = Path("/proc/self/smaps_rollup").read_text("ascii")
        return next(
            int(line.split()[1]) for line in rollup.splitlines() if "Rss:" in line
        )

    blocks = [b"x" * 100_000 for _ in range(2_000)]  # zeros might never be touched
    before = used()
    del blocks[::2]
    trim_heap()
    assert before - used() > 1_000 * 100 / 2
