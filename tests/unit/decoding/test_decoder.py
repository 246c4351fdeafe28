from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from refreader_spacy.decoding.decoder import (
    CAPACITY,
    GENDER,
    KIND,
    LONGEST,
    NAME,
    Decoder,
    Gender,
    Mention,
    TokenKind,
    decode,
    extend_clusters,
)
from refreader_spacy.protocol import Reading

ORDINARY, ALONE, NEVER = TokenKind
NONE, HE, SHE, IT = Gender
THRESHOLDS = st.sampled_from([0.05, 0.25, 0.5, 0.75, 1.0])


def reading(update, overwrite):
    update, overwrite = np.float32(update), np.float32(overwrite)
    return Reading(update, overwrite, salience=np.zeros_like(update))


@st.composite
def exact_readings(draw):
    """Each token gives four quarters to its gates: no product is rounded."""
    n_tokens, n_cells = draw(st.integers(0, 30)), draw(st.integers(1, 4))
    quarters = draw(
        arrays(np.int8, (n_tokens, 4), elements=st.integers(0, 2 * n_cells))
    )
    gates = (quarters[:, :, None] == np.arange(2 * n_cells)).sum(axis=1) / 4
    return reading(gates[:, :n_cells], gates[:, n_cells:])


@st.composite
def rough_readings(draw):
    shape = (2, draw(st.integers(0, 30)), draw(st.integers(1, 4)))
    gates = draw(arrays(np.float32, shape, elements=st.floats(0, 1, width=32)))
    return reading(*(gates / np.maximum(1, gates.sum(axis=(0, 2))[:, None])))


def draw_kinds(data, n_tokens):
    kinds = [kind + gender for kind in TokenKind for gender in Gender]
    kinds += [NAME + gender for gender in Gender] * 2
    return data.draw(arrays(np.uint8, n_tokens, elements=st.sampled_from(kinds)))


def psi_by_hand(read):
    psi = np.zeros((len(read), len(read)))
    for i in range(len(read)):
        share = np.float64(read.update[i] + read.overwrite[i])
        for j in range(i + 1, len(read)):
            share = share * (1 - read.overwrite[j])
            psi[i, j] = (share * read.update[j]).sum()
    return psi


def names_by_hand(is_name):
    """From where to where the name goes that each token is in."""
    names = []
    for t in range(len(is_name)):
        first = last = t
        while is_name[t] and first and is_name[first - 1]:
            first -= 1
        while is_name[t] and last + 1 < len(is_name) and is_name[last + 1]:
            last += 1
        first += (t - first) // LONGEST * LONGEST
        names.append((first, min(last, first + LONGEST - 1) + 1))
    return names


def decode_by_hand(read, threshold, kinds):
    """The definition, from all pairs of tokens: clusters of (start, end), and links."""
    psi = psi_by_hand(read)
    is_name = set(np.flatnonzero(kinds & NAME))
    names = names_by_hand(kinds & NAME)
    kinds, genders = kinds & KIND, kinds & GENDER
    total = (read.update + read.overwrite).sum(axis=1)
    written = [t for t, e in enumerate(total) if e >= threshold and kinds[t] != NEVER]
    mentions, links = [], []  # lists of tokens; (probability, antecedent's number)
    owner = {}
    clusters = {}

    def best(j, earlier):
        i = max(earlier, key=lambda i: (psi[i, j], i), default=None)
        return None if i is None or psi[i, j] < threshold else i

    def cluster(mention):
        return clusters.setdefault(
            mention, cluster(links[mention][1]) if links[mention] else mention
        )

    def gender(mention):
        return next((genders[t] for t in mentions[mention] if genders[t]), NONE)

    def agrees(earlier):
        """Is the last mention of another gender than the first of that cluster?"""
        closed = range(len(mentions) - 1)
        known = [gender(m) for m in closed if cluster(m) == cluster(earlier)]
        first = next((g for g in known if g), NONE)
        return NONE in (first, gender(-1)) or first == gender(-1)

    for j in written:
        i = best(j, owner)
        start, _ = names[j]
        continues = any(t in owner for t in range(start, j)) or (
            start - 1 in owner
            and start - 1 not in is_name
            and ALONE not in (kinds[start - 1], kinds[j])
            and psi[start - 1, j] >= threshold
            and (
                owner[i] == owner[j - 1]
                or (links[-1] and cluster(links[-1][1]) == cluster(owner[i]))
            )
        )
        if not continues:
            mentions.append([])
            links.append(None)
        mentions[-1].append(j)
        owner[j] = len(mentions) - 1
        if links[-1] and not agrees(links[-1][1]):
            links[-1] = None
        i = best(j, [t for t in owner if owner[t] != owner[j] and agrees(owner[t])])
        if (
            i is not None
            and (kinds[j] == ALONE or psi[i, j] >= np.float64(read.overwrite[j]).sum())
            and (links[-1] is None or psi[i, j] > links[-1][0])
        ):
            links[-1] = (psi[i, j], owner[i])

    spans = [(names[tokens[0]][0], names[tokens[-1]][1]) for tokens in mentions]
    together = {}
    for number, span in enumerate(spans):
        together.setdefault(cluster(number), []).append(span)
    return list(together.values()), [
        (spans[link[1]], spans[number], link[0])
        for number, link in enumerate(links)
        if link is not None
    ]


def decode_pieces(read, threshold, kinds, cuts, between=lambda decoder: None):
    decoder = Decoder(read.update.shape[1], threshold)
    clusters = {}
    for start, end in pairwise([0, *sorted(cuts), len(read)]):
        update, overwrite = read.update[start:end], read.overwrite[start:end]
        extend_clusters(clusters, decoder.read(update, overwrite, kinds[start:end]))
        between(decoder)
    extend_clusters(clusters, decoder.finish())
    return list(clusters.values())


def plain(clusters):
    links = [link for cluster in clusters for link in cluster.links]
    return [[mention[:2] for mention in cluster.mentions] for cluster in clusters], [
        (link.antecedent[:2], link.anaphor[:2], link.probability)
        for link in sorted(links, key=lambda link: link.anaphor)
    ]


@settings(deadline=None)
@given(exact_readings(), THRESHOLDS, st.data())
def test_one_pass_with_little_memory_finds_what_all_pairs_find(read, threshold, data):
    kinds = draw_kinds(data, len(read))
    found = plain(decode(read, threshold, kinds))
    assert found == decode_by_hand(read, threshold, kinds)


@settings(deadline=None)
@given(rough_readings(), THRESHOLDS, st.data())
def test_reading_in_pieces_changes_nothing(read, threshold, data):
    kinds = draw_kinds(data, len(read))
    cuts = data.draw(st.lists(st.integers(0, len(read)), max_size=6))
    whole = decode(read, threshold, kinds)
    assert decode_pieces(read, threshold, kinds, cuts) == whole


@settings(deadline=None)
@given(exact_readings(), THRESHOLDS, st.data())
def test_what_is_released_is_never_missed(read, threshold, data):
    kinds = draw_kinds(data, len(read))
    whole = decode(read, threshold, kinds)
    cuts = range(len(read))
    assert decode_pieces(read, threshold, kinds, cuts, Decoder.release) == whole


@settings(deadline=None)
@given(exact_readings(), THRESHOLDS, st.data())
def test_singletons_can_be_left_out_while_reading(read, threshold, data):
    kinds = draw_kinds(data, len(read))
    whole = [c for c in decode(read, threshold, kinds) if len(c.mentions) > 1]
    with pytest.MonkeyPatch.context() as patch:
        for size in ("protocol.BLOCK", "decoding.decoder.TIDY"):
            patch.setattr(f"refreader_spacy.{size}", data.draw(st.integers(1, 8)))
        assert decode(read, threshold, kinds, singletons=False) == whole


@settings(deadline=None)
@given(rough_readings(), THRESHOLDS, st.data())
def test_links_have_the_probability_that_the_reading_gives(read, threshold, data):
    kinds = draw_kinds(data, len(read))
    for cluster in decode(read, threshold, kinds):
        for antecedent, anaphor, probability in cluster.links:
            pairs = [
                read.link_probability(i, j)
                for i in range(antecedent.start, antecedent.end)
                for j in range(anaphor.start, anaphor.end)
            ]
            close = pytest.approx(probability, rel=1e-4, abs=1e-6)
            assert any(pair == close for pair in pairs)


# Each token is written as a letter per cell: o overwrites it, u updates it.
@pytest.mark.parametrize(
    ("cells", "kinds", "expected"),
    [
        pytest.param(
            "o. u. .. u.", "....", [[(0, 2), (3, 4)]], id="name, then pronoun"
        ),
        pytest.param("o. o. u.", "...", [[(0, 1)], [(1, 3)]], id="forgotten at once"),
        pytest.param(
            "o. .o .. u. .u", ".....", [[(0, 1), (3, 4)], [(1, 2), (4, 5)]], id="two"
        ),
        pytest.param("o. u. u.", ".*.", [[(0, 1), (1, 2), (2, 3)]], id="alone between"),
        pytest.param("o. u. u.", ".x.", [[(0, 1), (2, 3)]], id="punctuation between"),
        pytest.param(
            "x. o. .. u. u.", "x....", [[(1, 2), (3, 5)]], id="later longer name"
        ),
        pytest.param(
            "u. .. o. u.", "*...", [[(0, 1)], [(2, 4)]], id="overwritten since"
        ),
        pytest.param(
            "o. .. u. u.", "*...", [[(0, 1), (2, 4)]], id="pronoun before name"
        ),
        pytest.param(".. ..", "..", [], id="nothing written"),
    ],
)
def test_gates_make_mentions_and_clusters(cells, kinds, expected):
    cells = np.array([list(token) for token in cells.split()])
    kinds = np.array([".*x".index(kind) for kind in kinds], dtype=np.uint8)
    clusters = decode(reading(cells == "u", cells == "o"), 0.5, kinds)
    assert plain(clusters)[0] == expected


def test_small_overwrites_wear_a_link_away():
    update = [[0.0], [0.0], [0.0], [1.0]]
    overwrite = [[1.0], [0.25], [0.25], [0.0]]
    clusters = decode(reading(update, overwrite), 0.5, np.zeros(4, np.uint8))
    assert [link.probability for link in clusters[0].links] == [0.5625]


def test_an_empty_document_has_no_clusters():
    assert (
        decode(reading(np.zeros((0, 2)), np.zeros((0, 2))), 0.5, np.zeros(0, np.uint8))
        == []
    )


def test_an_overwritten_cluster_is_no_longer_remembered():
    decoder = Decoder(n_cells=1, threshold=0.5)
    kinds = np.zeros(1, np.uint8)
    zero, one = np.zeros((1, 1), np.float32), np.ones((1, 1), np.float32)
    assert decoder.read(zero, one, kinds) == []
    (first,) = decoder.read(zero, zero, kinds)
    assert first.mention == Mention(0, 1, cluster=0)
    assert decoder.remembered == {0}
    decoder.read(zero, one, kinds)
    decoder.release()
    assert decoder.remembered == set()


def test_somebody_whom_few_words_mean_is_not_lost_among_many():
    n_tokens = 20 * CAPACITY
    rng = np.random.default_rng(0)
    update, overwrite = np.zeros((2, n_tokens, 3))
    overwrite[0, 0], overwrite[1, 1], overwrite[2, 2] = 1.0, 0.6, 0.5
    # Each is better than all others in some cell, so none can be forgotten for another
    update[3:, 0] = rng.uniform(0.7, 0.9, n_tokens - 3)
    update[3:, 2] = 0.95 - update[3:, 0]
    update[-1] = 0.0, 0.6, 0.0
    kinds = np.full(n_tokens, ALONE, np.uint8)
    clusters = decode(reading(update, overwrite), 0.2, kinds)
    assert [1, n_tokens - 1] in [[m.start for m in c.mentions] for c in clusters]


def test_memory_stays_bounded_whatever_is_read():
    n_tokens = 2_000
    fading = np.linspace(1, 0.5, n_tokens)[:, None] * [[0.5, 0]]
    rising = np.linspace(0.5, 1, n_tokens)[:, None] * [[0, 0.5]]
    read = reading(fading + rising, np.zeros((n_tokens, 2)))
    for kind in (ORDINARY, ALONE):
        decoder = Decoder(n_cells=2, threshold=0.1)
        decoder.read(read.update, read.overwrite, np.full(n_tokens, kind, np.uint8))
        assert len(decoder.shares) <= 2 * CAPACITY


@pytest.mark.parametrize(
    ("genders", "expected"),
    [
        ([NONE, HE, SHE, HE], [[0, 1, 3], [2]]),
        ([NONE, HE, SHE, SHE], [[0, 1], [2, 3]]),
        ([NONE, HE, HE, NONE], [[0, 1, 2, 3]]),
        ([SHE, IT, NONE, HE], [[0, 2], [1], [3]]),
    ],
)
def test_nobody_is_he_and_she(genders, expected):
    """All tokens go to one cell, and each is linked best to the first."""
    update = [[0.0], [0.9], [0.8], [0.7]]
    overwrite = [[1.0], [0.0], [0.0], [0.0]]
    kinds = np.uint8(genders) + ALONE
    found = decode(reading(update, overwrite), 0.1, kinds)
    assert [[m.start for m in c.mentions] for c in found] == expected


def test_a_name_is_one_mention_whichever_words_are_written():
    """Of "old Ann May Lee met her", only "May" and "her" are."""
    update, overwrite = np.zeros((6, 1)), np.zeros((6, 1))
    overwrite[2], update[5] = 1.0, 0.9
    kinds = np.uint8([0, NAME, NAME, NAME, 0, ALONE])
    for cuts in ([], [2], [3], [1, 2, 3, 4, 5]):
        found = decode_pieces(reading(update, overwrite), 0.1, kinds, cuts)
        assert [[m[:2] for m in c.mentions] for c in found] == [[(1, 4), (5, 6)]]
