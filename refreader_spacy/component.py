"""The `refreader` pipe: a trainable component that hands its work along."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from weakref import ref

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
from refreader_spacy.batching import read_docs
from refreader_spacy.corpora.span_groups import has_clusters
from refreader_spacy.decoding.clusters import decode_clusters
from refreader_spacy.errors import Errors, Warnings
from refreader_spacy.files import unpacking
from refreader_spacy.lang.languages import warn_of_language
from refreader_spacy.protocol import Part, Past, Reader, ReaderModel, reader_of
from refreader_spacy.reader.card import fill_meta, sources
from refreader_spacy.reader.encoders import check_loaded
from refreader_spacy.settings import Scheme, Setting, with_overrides

if TYPE_CHECKING:
    from refreader_spacy.streaming.stream import Stream
    from refreader_spacy.streaming.transient_vocab import TransientVocabs

PACKAGED = {
    "@architectures": "refreader-spacy.PackagedReader.v1",
    "name": "en_general_6",
}
DEFAULT_THRESHOLD = 0.3  # where neither the user nor the weights tell another
N_SAMPLES = 10  # documents that initialize looks at

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
) -> "RefReader":
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
        self._vocabs: TransientVocabs | None = None
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

    def stream(self) -> "Stream":
        """Read a text while it is still coming, with the pipeline's tokenizer.

        RETURNS (Stream): A reading that has no text yet.
        """
        self._check_trained()
        from refreader_spacy.streaming.stream import Stream
        from refreader_spacy.streaming.transient_vocab import TransientVocabs

        if self._vocabs is None:
            self._vocabs = TransientVocabs(self.vocab)
        return Stream(self, self.tokenizer, self._vocabs)

    def past(self) -> Past:
        """What a stream keeps for the model's encoder: the `past` of a layer in it, or
        of the component before this one that the encoder depends on."""
        source: Any
        for source in self.model.layers[0].layers:
            if "past" in source.attrs:
                return cast(Past, source.attrs["past"](source))
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
        """Read Docs, which are left as they are.

        docs (Iterable[Doc]): What to read; they may be empty.
        RETURNS (list[Part]): What was decided about each Doc.
        """
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
        """Write clusters, links and, if asked for, the memory's history.

        docs (Sequence[Doc]): Where to write.
        parts (list[Part]): What `predict` gave for them.
        """
        reader = self.reader
        scheme = self.scheme_number(reader)
        for doc, part in zip(docs, parts, strict=True):
            clusters = decode_clusters(
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
        """The loss against gold clusters, and its gradient in the model's outputs.

        examples (Iterable[Example]): A batch with gold clusters.
        outputs (Any): What `model.begin_update` gave for the predicted Docs.
        RETURNS (tuple[float, Any]): The loss and the gradient.
        """
        return self.reader.get_loss(examples, outputs, self.spans_prefix)

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        weights: str | None = None,
    ) -> None:
        """Check that there is something to learn from, and start.

        get_examples (Callable[[], Iterable[Example]]): Gives examples with gold
            clusters, of which the first few are looked at.
        nlp (Language | None): Its meta will name those weights as a source.
        weights (str | None): Go on from weights of the package, such as
            "en_general_6"; None draws fresh ones.
        """
        validate_get_examples(get_examples, "RefReader.initialize")
        samples = list(islice(get_examples(), N_SAMPLES))
        prefix = self.spans_prefix
        if not any(has_clusters(example.reference, prefix) for example in samples):
            message = Errors.R006.format(
                name=self.name, n_docs=len(samples), prefix=prefix
            )
            raise ValueError(message)
        if weights is None:
            self.model.initialize(X=[example.reference for example in samples])
        else:
            card = self._start_from(weights)
            if nlp is not None:
                nlp.meta["sources"] = sources(nlp.meta, card)
        self.model.attrs["trained"] = True

    def _start_from(self, weights: str) -> dict[str, Any]:
        """Copy weights of the package; their card."""
        from refreader_spacy.reader.packaged import copy_packaged

        card = copy_packaged(self.model, weights)
        if self.cfg["configured"]["threshold"] is None:
            self.threshold = self.model.attrs["threshold"]
        return card

    def score(self, examples: Iterable[Example], **kwargs: Any) -> Scores:
        """Score annotated examples: those of GAP by its metric, all others by clusters.

        GAP is scored on gates: what was annotated without a trace is read again.

        examples (Iterable[Example]): Annotated and gold Docs.
        kwargs (Any): Goes to the scorer.
        RETURNS (dict[str, Any]): The scores by name.
        """
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
    ) -> "RefReader":
        """Load from bytes; settings that were overridden at load survive."""
        with self._loading():
            super().from_bytes(bytes_data, exclude=exclude)
        return self

    def from_disk(
        self, path: str | Path, *, exclude: Iterable[str] = ()
    ) -> "RefReader":
        """Load from a folder; settings that were overridden at load survive."""
        with self._loading():
            super().from_disk(path, exclude=exclude)
        return self

    @contextmanager
    def _loading(self) -> Iterator[None]:
        """Data may be of another model, or broken: that is one message."""
        configured = self.cfg
        self.cfg = dict(configured)
        try:
            with unpacking():
                yield
            check_loaded(self.model)
            for name, value in with_overrides(configured, self.cfg).items():
                setattr(self, name, value)
            self.cfg["configured"] = configured["configured"]
        except OSError:
            raise
        except Exception as error:
            if str(error).startswith("[R"):
                raise
            problem = f"{type(error).__name__}: {error}"
            message = Errors.R022.format(name=self.name, problem=problem[:200])
            raise ValueError(message) from error
