"""The network of the default reader: tokens, mentions, and who they are about.

Everything here depends on tokens up to the one in question, except right edges, which
are decided one token after another as those come.

Shapes: N tokens, X width of the encoder's vectors, E token size, H hidden size, K
mentions, V mention size, S score size, P pairs of a mention and a cell, F features.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from refreader_spacy.lang.en.lexemes import Column
from refreader_spacy.reader.features import N_VALUES, OFFSETS
from refreader_spacy.reader.mentions import LONGEST, N_KINDS
from refreader_spacy.reader.tokens import NO_SPACE, QUOTATION, SENTENCE_START

# Hashed embeddings: the column, how many rows, how wide
EMBEDDINGS = (
    (Column.WORD, 8192, 32),
    (Column.PREFIX, 2048, 16),
    (Column.SUFFIX, 2048, 16),
    (Column.SHAPE, 256, 8),
)
FLAGS = (
    (Column.CAPITAL, 1),
    (Column.CAPITAL, 2),
    (Column.DIGIT, 1),
    (SENTENCE_START, 1),
    (NO_SPACE, 1),
)
N_FLAGS = len(FLAGS) + 2
FURTHEST = 40  # tokens from a mention's head to its right edge
EDGE_SIZE = 48


# What an annotation scheme calls a mention differs; one output each
SCHEMES = ("gum", "ontonotes", "litbank", "craft")
TYPES = (
    "", "person", "place", "organization", "object", "event", "time", "substance",
    "animal", "plant", "abstract",
)  # fmt: skip
N_TYPES = len(TYPES)


class Encoded(NamedTuple):
    """Tokens as the recurrent unit has read them."""

    inputs: Tensor  # (N, E)
    hidden: Tensor  # (N, H)


class EntityNetwork(nn.Module):
    """A recurrent reader with heads for mentions, their edges, types and links."""

    def __init__(
        self,
        *,
        width: int,
        token_size: int = 160,
        hidden_size: int = 256,
        mention_size: int = 128,
        score_size: int = 64,
        product_size: int = 48,
        detection_size: int = 128,
        dropout: float = 0.35,
        word_dropout: float = 0.08,
    ) -> None:
        super().__init__()
        self.dropout = dropout
        self.word_dropout = word_dropout
        self.embeddings = nn.ModuleList(
            nn.Embedding(rows, size) for _, rows, size in EMBEDDINGS
        )
        size = sum(size for _, _, size in EMBEDDINGS)
        self.token = nn.Linear(width + size + N_FLAGS, token_size)
        self.recurrence = nn.GRU(token_size, hidden_size, batch_first=True)
        both = hidden_size + token_size
        self.detection = nn.Linear(both, detection_size)
        self.schemes = nn.Linear(detection_size, len(SCHEMES))
        self.types = nn.Linear(detection_size, N_TYPES)
        self.left_query = nn.Linear(both, EDGE_SIZE)
        self.left_key = nn.Linear(both, EDGE_SIZE)
        self.left_bias = nn.Parameter(torch.zeros(LONGEST + 1))
        self.right_query = nn.Linear(both, EDGE_SIZE)
        self.right_key = nn.Linear(both, EDGE_SIZE)
        self.right_value = nn.Linear(EDGE_SIZE, 1)
        self.right_bias = nn.Parameter(torch.zeros(FURTHEST + 1))
        self.kind = nn.Embedding(N_KINDS, 24)
        self.mention = nn.Linear(
            hidden_size + 3 * token_size + 24 + N_TYPES, mention_size
        )
        self.after = nn.Linear(hidden_size, mention_size, bias=False)
        self.query = nn.Linear(mention_size, score_size)
        self.latest = nn.Linear(mention_size, score_size, bias=False)
        self.mean = nn.Linear(mention_size, score_size, bias=False)
        self.query_product = nn.Linear(mention_size, product_size)
        self.latest_product = nn.Linear(mention_size, product_size, bias=False)
        self.mean_product = nn.Linear(mention_size, product_size, bias=False)
        self.product = nn.Linear(product_size, score_size, bias=False)
        self.features = nn.Embedding(N_VALUES, score_size)
        self.kind_features = nn.Embedding(N_KINDS * N_VALUES, 1)
        self.score = nn.Linear(score_size, 1)
        self.new_hidden = nn.Linear(mention_size, score_size)
        self.new = nn.Linear(score_size, 1)
        self.reset()

    def reset(self) -> None:
        """Draw fresh weights."""
        for module in self.modules():
            reset = getattr(module, "reset_parameters", None)
            if callable(reset):
                reset()
        for table, scale in ((self.features, 0.05), (self.kind_features, 0.0)):
            nn.init.normal_(table.weight, std=scale)
        for embedding in self.embeddings:
            nn.init.normal_(embedding.get_parameter("weight"), std=0.3)
        for bias in (self.left_bias, self.right_bias):
            nn.init.zeros_(bias)
        nn.init.zeros_(self.new.bias)

    def drop(self, x: Tensor, share: float = 1.0) -> Tensor:
        return F.dropout(x, self.dropout * share, self.training)

    def token_inputs(self, vectors: Tensor, rows: Tensor) -> Tensor:
        """What is read of each token (N, E).

        vectors (Tensor): The encoder's (N, X).
        rows (Tensor): What is known of each token (N, C).
        """
        words = rows[:, [int(column) for column, _, _ in EMBEDDINGS]]
        if self.training and self.word_dropout:
            lost = torch.rand(len(rows), device=rows.device) < self.word_dropout
            words = words.masked_fill(lost[:, None], 0)
            vectors = vectors.masked_fill(lost[:, None], 0.0)
        embedded = [
            table(words[:, i] % rows_of_table)
            for i, (table, (_, rows_of_table, _)) in enumerate(
                zip(self.embeddings, EMBEDDINGS, strict=True)
            )
        ]
        flags = [(rows[:, column] == value) for column, value in FLAGS]
        flags += [rows[:, QUOTATION] > 0, ~vectors.any(dim=1)]
        flagged = torch.stack(flags, dim=1).to(vectors.dtype)
        inputs = torch.cat([self.drop(vectors, 0.6), *embedded, flagged], dim=1)
        return torch.tanh(self.token(inputs))

    def encode(self, inputs: Tensor, windows: Tensor, valid: Tensor) -> Encoded:
        """Read windows of tokens side by side.

        inputs (Tensor): (N, E).
        windows (Tensor): Which token is where in which window (B, L); in training a
            window begins with some tokens of the one before.
        valid (Tensor): Which of them are read for good, in the order of tokens (B, L).
        """
        read = self.drop(inputs, 0.6)
        middle = windows.shape[1] // 2
        short = ~valid[:, middle:].any(dim=1)  # (B,)
        if not short.any():
            return Encoded(inputs, self.recurrence(read[windows])[0][valid])
        # Windows that end before the middle are read by themselves: half the work
        hidden = read.new_zeros(len(read), self.recurrence.hidden_size)
        for some, length in ((short, middle), (~short, windows.shape[1])):
            places, counts = windows[some, :length], valid[some, :length]
            if len(places):
                states, _ = self.recurrence(read[places])
                hidden = hidden.index_copy(0, places[counts], states[counts])
        return Encoded(inputs, hidden)

    def both(self, encoded: Encoded) -> Tensor:
        """What heads see of each token (N, H + E)."""
        return torch.cat([self.drop(encoded.hidden), encoded.inputs], dim=1)

    def detect(self, both: Tensor) -> tuple[Tensor, Tensor]:
        """Logits of being a mention's head by each scheme, and of entity types."""
        seen = self.drop(torch.relu(self.detection(both)), 0.6)
        return self.schemes(seen), self.types(seen)

    def left_edges(self, both: Tensor, heads: Tensor, back: Tensor) -> Tensor:
        """Logits of how many tokens before its head a mention begins (K, 21).

        back (Tensor): How many there are before each head (K,).
        """
        steps = torch.arange(LONGEST + 1, device=heads.device)
        places = (heads[:, None] - steps).clamp(min=0)  # (K, 21)
        keys = self.left_key(both)[places]  # (K, 21, 48)
        query = self.left_query(both[heads])
        logits = torch.einsum("kd,ksd->ks", query, keys) / EDGE_SIZE**0.5
        logits = logits + self.left_bias
        edges: Tensor = logits.masked_fill(steps > back[:, None], -1e4)
        return edges

    def right_ends(self, both: Tensor, heads: Tensor, later: Tensor) -> Tensor:
        """Logits that a mention has ended before a later token (P,).

        heads, later (Tensor): Pairs of a head and a token behind it (P,).
        """
        query = self.right_query(both)[heads]
        key = self.right_key(both)[later]
        bias = self.right_bias[(later - heads).clamp(max=FURTHEST)]
        logits: Tensor = self.right_value(torch.relu(query + key)).squeeze(1) + bias
        return logits

    def mention_vectors(
        self,
        encoded: Encoded,
        heads: Tensor,
        starts: Tensor,
        kinds: Tensor,
        types: Tensor,
        following: Tensor,
    ) -> tuple[Tensor, Tensor]:
        """What a mention is, as a vector, and as it is remembered (K, V).

        What is remembered knows one token more: nothing is compared with it before
        that token has come.

        types (Tensor): How likely it is of each entity type (K, 11).
        following (Tensor): Is there a token after the head? (K,)
        """
        x = encoded.inputs
        sums = torch.cat([x.new_zeros(1, x.shape[1]), x.cumsum(dim=0)])
        length = (heads - starts + 1)[:, None]
        mean = (sums[heads + 1] - sums[starts]) / length
        parts = [self.drop(encoded.hidden[heads]), x[heads], x[starts], mean]
        known = self.mention(torch.cat([*parts, self.kind(kinds), types], dim=1))
        after = encoded.hidden[(heads + 1).clamp(max=len(x) - 1)] * following[:, None]
        return torch.tanh(known), torch.tanh(known + self.after(self.drop(after)))

    def link_scores(
        self,
        vectors: Tensor,
        remembered: Tensor,
        means: Tensor,
        kinds: Tensor,
        mention: Tensor,
        latest: Tensor,
        features: Tensor,
    ) -> Tensor:
        """Scores of pairs of a mention and a cell (P,).

        vectors, remembered (Tensor): Of mentions (K, V).
        means (Tensor): Of what is remembered of each and those before it in its cell
            (K, V).
        kinds (Tensor): Of mentions (K,).
        mention, latest (Tensor): Which mention each pair is about, and which is the
            latest in its cell (P,).
        features (Tensor): (P, F).
        """
        m = self.drop(vectors)
        r = self.drop(remembered)
        a = self.drop(means)
        cell = self.latest(r) + self.mean(a)  # (K, S)
        cell_product = self.latest_product(r) + self.mean_product(a)
        products = self.query_product(m)[mention] * cell_product[latest]
        hot = vectors.new_zeros(len(features), N_VALUES)  # (P, values)
        hot.scatter_(1, features + torch.from_numpy(OFFSETS).to(vectors.device), 1.0)
        hidden = self.query(m)[mention] + cell[latest] + self.product(products)
        hidden = hidden + hot @ self.features.weight
        by_kind = self.kind_features.weight.view(N_KINDS, N_VALUES)
        direct = vectors.new_zeros(len(features))
        pair_kinds = kinds[mention]
        for kind in pair_kinds.unique().tolist():
            some = (pair_kinds == kind).nonzero().squeeze(1)
            direct = direct.index_add(0, some, hot[some] @ by_kind[kind])
        scores: Tensor = self.score(torch.relu(hidden)).squeeze(1) + direct
        return scores

    def new_scores(self, vectors: Tensor) -> Tensor:
        """Scores of being something new (K,)."""
        hidden = torch.relu(self.new_hidden(self.drop(vectors)))
        scores: Tensor = self.new(hidden).squeeze(1)
        return scores
