"""A tokenised text on disk, memory-mapped.

Shapes: N tokens, A articles, W different words.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import srsly
from numpy.typing import NDArray
from spacy.about import __version__ as spacy_version
from spacy.attrs import ORTH
from spacy.language import Language
from spacy.vocab import Vocab

from refreader_spacy.errors import Errors
from refreader_spacy.files import atomic_write
from refreader_spacy.pretraining.texts import Article, read_articles

Index = NDArray[np.int64]


@dataclass(frozen=True)
class Corpus:
    """Articles laid end to end, some of them held out.

    words (list[str]): Every word of the text once (W).
    tokens (NDArray): Which word each token is (N,); the file itself, not a copy.
    starts (Index): Where each article begins, and where the last one ends (A + 1,).
    n_held_out (int): The number of articles that are not trained on.
    """

    words: list[str]
    tokens: NDArray[np.int32]
    starts: Index
    n_held_out: int

    @property
    def is_held_out(self) -> NDArray[np.bool_]:
        """Whether each article is held out (A,); these are spread over the text."""
        n_articles = len(self.starts) - 1
        step = n_articles // max(self.n_held_out, 1)
        chosen = np.zeros(n_articles, dtype=bool)
        chosen[step // 2 :: step][: self.n_held_out] = True
        return chosen

    @property
    def learned_from(self) -> Index:
        """The numbers of the articles to train on."""
        return np.flatnonzero(~self.is_held_out)

    @property
    def held_out(self) -> Index:
        """The numbers of the held-out articles."""
        return np.flatnonzero(self.is_held_out)

    def counts(self) -> Index:
        """The frequency of each word in the articles to train on (W,)."""
        learned = np.repeat(~self.is_held_out, np.diff(self.starts))  # (N,)
        return np.bincount(self.tokens[learned], minlength=len(self.words))


@dataclass(frozen=True)
class PlainText:
    """A text, and the cache of its tokens."""

    path: Path
    cache: Path
    held_out: int

    def __call__(self, nlp: Language) -> Corpus:
        """The tokenised text, from the cache if it is there.

        nlp (Language): Its tokenizer is used, and all words are added to its vocab.
        """
        meta = self._meta(nlp)
        made = self.cache / "meta.json"
        if not made.is_file() or srsly.read_json(made) != meta:
            with atomic_write(self.cache) as draft:
                draft.mkdir()
                _write(read_articles(self.path, nlp), nlp.vocab, draft)
                srsly.write_json(draft / "meta.json", meta)
        starts = np.load(self.cache / "starts.npy")
        n_articles = len(starts) - 1
        if not 0 < self.held_out < n_articles:
            raise ValueError(
                Errors.R324.format(
                    path=self.path, n_articles=n_articles, held_out=self.held_out
                )
            )
        tokens = np.memmap(self.cache / "tokens.int32", dtype="<i4", mode="r")
        words = srsly.read_msgpack(self.cache / "words.msgpack")
        return Corpus(words, tokens, starts, self.held_out)

    def _meta(self, nlp: Language) -> dict[str, str | int]:
        """What the cache depends on."""
        if not self.path.is_file():
            raise ValueError(Errors.R321.format(path=self.path))
        tokenizer = nlp.tokenizer.to_bytes(exclude=["vocab"])  # type: ignore[union-attr]
        stat = self.path.stat()
        return {
            "text": self.path.name,
            "size": stat.st_size,
            "changed": stat.st_mtime_ns,
            "tokenizer": hashlib.sha256(tokenizer).hexdigest(),
            "spacy": spacy_version,
        }


def create_plain_text_v1(path: Path, cache: Path, held_out: int = 200) -> PlainText:
    """A [pretraining] corpus of plain text: .txt, .txt.xz, .jsonl or .spacy.

    path (Path): The text; its articles are found as `refreader pretrain --help` says.
    cache (Path): A folder for the tokenised text; it may be deleted at any time.
    held_out (int): How many articles are kept to measure perplexity with.
    """
    return PlainText(Path(path), Path(cache), held_out)  # Thinc leaves them strings


def _write(articles: Iterable[Article], vocab: Vocab, folder: Path) -> None:
    numbers: dict[int, int] = {}
    starts = [0]
    with (folder / "tokens.int32").open("wb") as file:
        for article in articles:
            keys = [key for doc in article for key in doc.to_array(ORTH).tolist()]
            if not keys:
                continue
            tokens = [numbers.setdefault(key, len(numbers)) for key in keys]
            np.array(tokens, dtype="<i4").tofile(file)
            starts.append(starts[-1] + len(tokens))
    np.save(folder / "starts.npy", np.array(starts, dtype=np.int64))
    words = [vocab.strings[key] for key in numbers]
    srsly.write_msgpack(folder / "words.msgpack", words)
