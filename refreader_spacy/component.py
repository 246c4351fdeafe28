"""The `refreader` pipe: a trainable component that hands its work along."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, get_args
from weakref import ref

import srsly
from spacy.language import Language
from spacy.pipeline import TrainablePipe
from spacy.tokens import Doc
from spacy.training import Example, validate_get_examples
from spacy.vocab import Vocab

from refreader_spacy.annotation.extensions import (
    read_trace,
    register_extensions,
    write_clusters,
    write_trace,
)
from refreader_spacy.annotation.merged_tokens import (
    has_merged_tokens,
    in_words,
    merged_reading,
    move_clusters,
)
from refreader_spacy.decoding.decoder import decode
from refreader_spacy.errors import Errors, Warnings
from refreader_spacy.files import unpacking
from refreader_spacy.lang.languages import warn_of_language
from refreader_spacy.protocol import (
    Part,
    Past,
    Reader,
    ReaderModel,
    read_docs,
    reader_of,
)
from refreader_spacy.reader.card import fill_meta
from refreader_spacy.reader.encoders import check_loaded

if TYPE_CHECKING:
    from refreader_spacy.streaming.stream import Stream

PACKAGED = {
    "@architectures": "refreader-spacy.PackagedReader.v1",
    "name": "en_general_5",
}
DEFAULT_THRESHOLD = 0.3  # where neither the user nor the weights tell another
N_SAMPLES = 10  # documents that initialize looks at

Scheme = Literal["auto", "all", "ontonotes", "gum", "litbank", "craft"]
Scores = dict[str, Any]


@Language.factory(
    "refreader",
    assigns=["doc.spans", "doc._.coref_clusters", "doc._.coref_links"],
    default_config={
        "model": PACKAGED,
        "threshold": None,
        "keep_singletons": False,
        "scheme": "auto",
        "spans_prefix": "coref_clusters",
        "trace": False,
        "surprisal": False,
        "scorer": {"@scorers": "refreader-spacy.coref_scorer.v1"},
    },
    # Of those that aren't weighed, spaCy would tell a model's card that they are 0
    default_score_weights={"coref_f": 1.0},
)
def make_refreader(
    nlp: Language,
    name: str,
    model: ReaderModel,
    threshold: float | None,
    keep_singletons: bool,
    scheme: Scheme,
    spans_prefix: str,
    trace: bool,
    surprisal: bool,
    scorer: Callable[..., Scores] | None,
) -> RefReader:
    """Read coreference from left to right with memory cells.

    model (Model): Decides about each Doc's mentions; by default, with the package's
        weights.
    threshold (float | None): A link counts from this probability; None is what the
        weights were saved with.
    keep_singletons (bool): Keep mentions that nothing links to.
    scheme (str): Whose idea of a mention counts: "ontonotes" has no predicates and no
        appositions, "litbank" only people, places and the like; "all" keeps whatever
        the reader found. "auto" is "all" with singletons and "ontonotes" without.
    spans_prefix (str): Clusters are the span groups `{spans_prefix}_1`, `_2`, ...
    trace (bool): Keep gates and saliences on the Doc, for drawing.
    surprisal (bool): Keep how unexpected each word was, for `token._.surprisal`: as a
        causal transformer underneath predicts it, in the same reading; or the weights,
        if they are of a language model, in another one.
    scorer (Callable | None): Used by nlp.evaluate.
    """
    if "card" in model.attrs:  # the package's weights
        warn_of_language(nlp.lang or "xx", name)  # they read English only
        fill_meta(nlp.meta, model.attrs["card"])
    return RefReader(
        nlp.vocab,
        model,
        name,
        threshold=threshold,
        keep_singletons=keep_singletons,
        scheme=scheme,
        spans_prefix=spans_prefix,
        trace=trace,
        surprisal=surprisal,
        scorer=scorer,
        tokenizer=nlp.tokenizer,
        pipeline=ref(nlp),
    )


class Setting:
    """An attribute of the pipe that lives in its `cfg`, where spaCy's tools look."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, pipe: RefReader, owner: type) -> Any:
        return pipe.cfg[self.name]

    def __set__(self, pipe: RefReader, value: Any) -> None:
        if self.name == "threshold" and not (
            isinstance(value, int | float) and 0 <= value <= 1
        ):
            raise ValueError(Errors.R007.format(name=pipe.name, found=value))
        if self.name == "scheme" and value not in get_args(Scheme):
            known = ", ".join(get_args(Scheme))
            raise ValueError(Errors.R017.format(known=known, found=value))
        pipe.cfg[self.name] = value


class RefReader(TrainablePipe):
    """Coreference by a reader that goes from left to right."""

    threshold = Setting()
    keep_singletons = Setting()
    scheme = Setting()
    spans_prefix = Setting()
    trace = Setting()
    surprisal = Setting()

    def __init__(
        self,
        vocab: Vocab,
        model: ReaderModel,
        name: str = "refreader",
        *,
        threshold: float | None = None,
        keep_singletons: bool = False,
        scheme: Scheme = "auto",
        spans_prefix: str = "coref_clusters",
        trace: bool = False,
        surprisal: bool = False,
        scorer: Callable[..., Scores] | None = None,
        tokenizer: Callable[[str], Doc] | None = None,
        pipeline: Callable[[], Language | None] = lambda: None,
    ) -> None:
        register_extensions()
        self.vocab = vocab
        self.model = model
        self.name = name
        self.scorer = scorer
        self.tokenizer = tokenizer
        self.pipeline = pipeline
        self.cfg: dict[str, Any] = {}
        if threshold is None:
            self.threshold = model.attrs.get("threshold", DEFAULT_THRESHOLD)
        else:
            self.threshold = threshold
        self.keep_singletons = keep_singletons
        self.scheme = scheme
        self.spans_prefix = spans_prefix
        self.trace = trace
        self.surprisal = surprisal
        self.cfg["configured"] = {**self.cfg, "threshold": threshold}

    @property
    def reader(self) -> Reader:
        """What reads, with the model's weights as they are now."""
        return reader_of(self.model)

    @property
    def lookahead(self) -> bool:
        """Does what is decided at a token depend on the tokens after it?"""
        return self.reader.lookahead

    @property
    def labels(self) -> tuple[str, ...]:
        """The entity types that spans may have as labels."""
        return tuple(label for label in self.reader.labels if label)

    def scheme_number(self, reader: Reader) -> int | None:
        """The scheme whose mentions count, as a place in the reader's; None: all."""
        scheme = self.scheme
        if scheme == "auto":
            scheme = "all" if self.keep_singletons else "ontonotes"
        return reader.schemes.index(scheme) if scheme in reader.schemes else None

    def stream(self) -> Stream:
        """Read a text while it is still coming, with the pipeline's tokenizer."""
        self._check_trained()
        from refreader_spacy.streaming.stream import Stream

        return Stream(self, self.tokenizer)

    def past(self) -> Past:
        """What a stream keeps for the model's encoder: the `past` of the component
        before this one that the encoder depends on."""
        nlp = self.pipeline()
        upstream = self.model.layers[0].attrs.get("upstream", "*")
        for name, pipe in nlp.pipeline if nlp is not None else ():
            if pipe is self:
                break
            attrs = getattr(getattr(pipe, "model", None), "attrs", {})
            if "past" in attrs and upstream in ("*", name):
                past: Past = attrs["past"](cast(Any, pipe).model)
                return past
        raise ValueError(Errors.R253.format(name=self.name, upstream=upstream))

    def predict(self, docs: Iterable[Doc]) -> list[Part]:
        """What is decided about each Doc, which is left as it is."""
        self._check_trained()
        return self._read(docs, gates=self.trace)

    def _read(self, docs: Iterable[Doc], *, gates: bool) -> list[Part]:
        return read_docs(self.model, [*map(self._in_words, docs)], gates=gates)

    def _in_words(self, doc: Doc) -> Doc:
        """What is read of a Doc: tokens that were merged before are words again."""
        if self.tokenizer is None or not has_merged_tokens(doc):
            return doc
        if any(getattr(layer, "upstream_name", "") for layer in self.model.walk()):
            # A listener's vectors are of the Doc's own tokens
            warnings.warn(Warnings.R903.format(name=self.name), stacklevel=2)
            return doc
        return in_words(doc, self.tokenizer)

    def _write_trace(self, doc: Doc, part: Part) -> None:
        if part.gates is None:
            return
        words = self._in_words(doc)
        gates = part.gates
        write_trace(doc, gates if words is doc else merged_reading(gates, words, doc))

    def _check_trained(self) -> None:
        if not self.model.attrs.get("trained"):
            raise ValueError(Errors.R002.format(name=self.name))

    def set_annotations(self, docs: Sequence[Doc], parts: list[Part]) -> None:
        """Write clusters, links and, if asked for, the memory's history."""
        reader = self.reader
        scheme = self.scheme_number(reader)
        for doc, part in zip(docs, parts, strict=True):
            clusters = decode(
                part,
                self.threshold,
                scheme=scheme,
                labels=reader.labels,
                singletons=self.keep_singletons,
            )
            words = self._in_words(doc)
            write_clusters(
                words,
                clusters,
                prefix=self.spans_prefix,
                keep_singletons=self.keep_singletons,
            )
            if words is not doc:
                move_clusters(words, doc, self.spans_prefix)
            self._write_trace(doc, part)
        if self.surprisal:
            from refreader_spacy.pretraining.surprisal import write_surprisals

            write_surprisals(self.model, docs, self.name)

    def get_loss(self, examples: Iterable[Example], outputs: Any) -> tuple[float, Any]:
        """The loss against gold clusters, and its gradient in the model's outputs."""
        return self.reader.get_loss(examples, outputs, self.spans_prefix)

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        weights: str | None = None,
    ) -> None:
        """Check that there is something to learn from, and start.

        weights (str | None): Go on from weights of the package, such as
            "en_general_5"; None draws fresh ones.
        """
        validate_get_examples(get_examples, "RefReader.initialize")
        samples = list(islice(get_examples(), N_SAMPLES))
        if not any(has_gold(example, self.spans_prefix) for example in samples):
            raise ValueError(
                Errors.R006.format(
                    name=self.name, n_docs=len(samples), prefix=self.spans_prefix
                )
            )
        if weights is None:
            self.model.initialize(X=[example.reference for example in samples])
        else:
            self._start_from(weights)
            if nlp is not None:
                nlp.meta["sources"] = sources(nlp.meta, packaged_card(weights))
        self.model.attrs["trained"] = True

    def _start_from(self, weights: str) -> None:
        from refreader_spacy.reader.packaged import copy_packaged

        copy_packaged(self.model, weights)
        if self.cfg["configured"]["threshold"] is None:
            self.threshold = self.model.attrs["threshold"]

    def score(self, examples: Iterable[Example], **kwargs: Any) -> Scores:
        """GAP is scored on gates: read again what was annotated without a trace."""
        examples = list(examples)
        unread = [
            example.predicted
            for example in examples
            if "gap_pronoun" in example.reference.spans
            and read_trace(example.predicted) is None
        ]
        for doc, part in zip(unread, self._read(unread, gates=True), strict=True):
            self._write_trace(doc, part)
        return cast(Scores, super().score(examples, **kwargs))

    def from_bytes(
        self, bytes_data: bytes, *, exclude: Iterable[str] = ()
    ) -> RefReader:
        """Load from bytes; settings that were overridden at load survive."""
        with self._loading():
            super().from_bytes(bytes_data, exclude=exclude)
        return self

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> RefReader:
        """Load from a folder; settings that were overridden at load survive."""
        with self._loading():
            super().from_disk(path, exclude=exclude)
        return self

    @contextmanager
    def _loading(self) -> Iterator[None]:
        """Data may be of another model, or broken: that is one message."""
        given = self.cfg
        self.cfg = dict(given)
        try:
            with unpacking():
                yield
            check_loaded(self.model)
            self._keep_overrides(given)
        except OSError:
            raise
        except Exception as error:
            if str(error).startswith("[R"):
                raise
            problem = f"{type(error).__name__}: {error}"
            message = Errors.R022.format(name=self.name, problem=problem[:200])
            raise ValueError(message) from error

    def _keep_overrides(self, given: dict[str, Any]) -> None:
        """A setting configured otherwise than the saved pipe's is the user's wish."""
        saved = self.cfg["configured"]
        wished = self.cfg["configured"] = given["configured"]
        # Compared as it is saved: spaCy's JSON changes the last digit of some floats.
        for name, value in srsly.json_loads(srsly.json_dumps(wished)).items():
            if value != saved.get(name, value):
                self.cfg[name] = wished[name]
        for name in wished:  # all are there, and right
            setattr(self, name, self.cfg[name])


def packaged_card(weights: str) -> dict[str, Any]:
    """What weights of the package say about themselves."""
    from refreader_spacy.reader.packaged import CARD

    path = files("refreader_spacy") / "weights" / weights / CARD
    card: dict[str, Any] = srsly.json_loads(path.read_text("utf8"))
    return card


def sources(meta: dict[str, Any], card: dict[str, Any]) -> list[dict[str, Any]]:
    """A pipeline's sources, with the weights it was trained from and their data."""
    filled = {"lang": meta["lang"], "sources": meta.get("sources")}
    fill_meta(filled, card)
    found: list[dict[str, Any]] = filled["sources"]
    return found


def has_gold(example: Example, prefix: str) -> bool:
    """Is there anything to learn from?"""
    return any(
        key.startswith(f"{prefix}_") and len(group)
        for key, group in example.reference.spans.items()
    )
