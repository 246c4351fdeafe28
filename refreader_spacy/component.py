"""The `refreader` pipe: a trainable component that hands its work along."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import srsly
from spacy.language import Language
from spacy.pipeline import TrainablePipe
from spacy.tokens import Doc
from spacy.training import Example, validate_get_examples
from spacy.vocab import Vocab
from thinc.api import Model

from refreader_spacy.annotation.extensions import (
    read_trace,
    register_extensions,
    write_clusters,
    write_trace,
)
from refreader_spacy.decoding.decoder import decode
from refreader_spacy.errors import Errors
from refreader_spacy.lang.en.words import token_kinds
from refreader_spacy.names.says import Said
from refreader_spacy.paper.inference import lookahead, read_docs
from refreader_spacy.protocol import Reading
from refreader_spacy.training.gold import LossWeights, gold_links, has_gold
from refreader_spacy.training.loss import coreference_loss

if TYPE_CHECKING:
    from refreader_spacy.streaming.stream import Stream

PACKAGED = {"@architectures": "refreader-spacy.PackagedReader.v1", "name": "en_gap_5"}
PACKAGED_THRESHOLD = 0.2403  # found on GAP validation, with those weights
PAPER_WEIGHTS = LossWeights()
N_SAMPLES = 10  # documents that initialize looks at

Scores = dict[str, Any]


@Language.factory(
    "refreader",
    assigns=["doc.spans", "doc._.coref_clusters", "doc._.coref_links"],
    default_config={
        "model": PACKAGED,
        "threshold": PACKAGED_THRESHOLD,
        "keep_singletons": False,
        "spans_prefix": "coref_clusters",
        "trace": False,
        "surprisal": False,
        "loss_weights": asdict(PAPER_WEIGHTS),
        "scorer": {"@scorers": "refreader-spacy.coref_scorer.v1"},
    },
    default_score_weights={"gap_f": None, "gap_best_f": 1.0, "coref_f": None},
)
def make_refreader(
    nlp: Language,
    name: str,
    model: Model[list[Doc], list[Reading]],
    threshold: float,
    keep_singletons: bool,
    spans_prefix: str,
    trace: bool,
    surprisal: bool,
    loss_weights: dict[str, float],
    scorer: Callable[..., Scores] | None,
) -> RefReader:
    """Read coreference from left to right with a few memory cells.

    model (Model): Gives each Doc's Reading; by default, with the package's weights.
    threshold (float): A link counts from this probability.
    keep_singletons (bool): Keep mentions that nothing links to.
    spans_prefix (str): Clusters are the span groups `{spans_prefix}_1`, `_2`, ...
    trace (bool): Keep gates and saliences on the Doc, for drawing.
    surprisal (bool): Keep how unexpected each word was, for `token._.surprisal`, if the
        weights are of a language model. It takes another reading.
    loss_weights (dict[str, float]): What a pair of tokens counts in training: inside a
        mention (within), of one entity (coref), of two entities (coref times
        negative_ratio), or any other. For a reader of names, what a choice counts
        that gold tells (coref), or else a teacher (other; the less, by the power
        focus, the more the reader agrees already).
    scorer (Callable | None): Used by nlp.evaluate.
    """
    return RefReader(
        nlp.vocab,
        model,
        name,
        threshold=threshold,
        keep_singletons=keep_singletons,
        spans_prefix=spans_prefix,
        trace=trace,
        surprisal=surprisal,
        loss_weights=LossWeights(**loss_weights),
        scorer=scorer,
        tokenizer=nlp.tokenizer,
    )


class Setting:
    """An attribute of the pipe that lives in its `cfg`, where spaCy's tools look."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, pipe: RefReader, owner: type) -> Any:
        return pipe.cfg[self.name]

    def __set__(self, pipe: RefReader, value: Any) -> None:
        if self.name == "threshold" and not 0 <= value <= 1:
            raise ValueError(Errors.R007.format(name=pipe.name, found=value))
        pipe.cfg[self.name] = value


class RefReader(TrainablePipe):
    """Coreference by the Referential Reader."""

    threshold = Setting()
    keep_singletons = Setting()
    spans_prefix = Setting()
    trace = Setting()
    surprisal = Setting()

    def __init__(
        self,
        vocab: Vocab,
        model: Model[list[Doc], list[Reading]],
        name: str = "refreader",
        *,
        threshold: float = PACKAGED_THRESHOLD,
        keep_singletons: bool = False,
        spans_prefix: str = "coref_clusters",
        trace: bool = False,
        surprisal: bool = False,
        loss_weights: LossWeights = PAPER_WEIGHTS,
        scorer: Callable[..., Scores] | None = None,
        tokenizer: Callable[[str], Doc] | None = None,
    ) -> None:
        register_extensions()
        self.vocab = vocab
        self.model = model
        self.name = name
        self.scorer = scorer
        self.tokenizer = tokenizer
        self.loss_weights = loss_weights
        self.cfg: dict[str, Any] = {}
        self.threshold = threshold
        self.keep_singletons = keep_singletons
        self.spans_prefix = spans_prefix
        self.trace = trace
        self.surprisal = surprisal
        self.cfg["configured"] = dict(self.cfg)

    @property
    def lookahead(self) -> bool:
        """Does what is read of a token depend on the tokens after it?"""
        return lookahead(self.model)

    def stream(self) -> Stream:
        """Read a text while it is still coming, with the pipeline's tokenizer."""
        self._check_trained()
        from refreader_spacy.streaming.stream import Stream

        return Stream(self, self.tokenizer)

    def predict(self, docs: Iterable[Doc]) -> list[Reading]:
        """The memory's history over each Doc, which is left as it is.

        A long Doc is read while it is decoded, unless its gates are to be kept: those
        of a novel take more memory than all else.
        """
        self._check_trained()
        return read_docs(self.model, list(docs), whole=self.trace)

    def _check_trained(self) -> None:
        if not self.model.attrs.get("trained"):
            raise ValueError(Errors.R002.format(name=self.name))

    def set_annotations(self, docs: Sequence[Doc], readings: list[Reading]) -> None:
        """Write clusters, links and, if asked for, the readings themselves."""
        for doc, reading in zip(docs, readings, strict=True):
            clusters = decode(
                reading,
                self.threshold,
                token_kinds(doc),
                singletons=self.keep_singletons,
            )
            write_clusters(
                doc,
                clusters,
                prefix=self.spans_prefix,
                keep_singletons=self.keep_singletons,
            )
            if self.trace:
                write_trace(doc, reading)
        if self.surprisal:
            from refreader_spacy.pretraining.surprisal import write_surprisals

            write_surprisals(self.model, docs, self.name)

    def get_loss(
        self, examples: Iterable[Example], readings: list[Any]
    ) -> tuple[float, list[Any]]:
        """The loss against gold clusters, and its gradient.

        readings (list[Any]): Readings, whose link probabilities are compared with gold;
            or what a reader of names said, which is compared with what it should say.
        """
        examples = list(examples)
        if readings and isinstance(readings[0], Said):
            from refreader_spacy.training.lesson import decision_loss, decisions_of

            decisions = [
                decisions_of(example, self.spans_prefix, said.n_cells)
                for example, said in zip(examples, readings, strict=True)
            ]
            return decision_loss(readings, decisions, self.loss_weights)
        golds = [
            gold_links(example, self.spans_prefix, self.loss_weights)
            for example in examples
        ]
        return coreference_loss(readings, golds)

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
    ) -> None:
        """Start from fresh weights, and check that there is something to learn from."""
        validate_get_examples(get_examples, "RefReader.initialize")
        samples = list(islice(get_examples(), N_SAMPLES))
        if not any(has_gold(example, self.spans_prefix) for example in samples):
            raise ValueError(
                Errors.R006.format(
                    name=self.name, n_docs=len(samples), prefix=self.spans_prefix
                )
            )
        self.model.initialize(X=[example.reference for example in samples])
        self.model.attrs["trained"] = True

    def score(self, examples: Iterable[Example], **kwargs: Any) -> Scores:
        """GAP is scored on gates: read again what was annotated without a trace."""
        examples = list(examples)
        unread = [
            example.predicted
            for example in examples
            if "gap_pronoun" in example.reference.spans
            and read_trace(example.predicted) is None
        ]
        for doc, reading in zip(unread, self.predict(unread), strict=True):
            write_trace(doc, reading)
        return cast(Scores, super().score(examples, **kwargs))

    def from_bytes(
        self, bytes_data: bytes, *, exclude: Iterable[str] = ()
    ) -> RefReader:
        """Load from bytes; settings that were overridden at load survive."""
        given = self.cfg
        self.cfg = dict(given)
        super().from_bytes(bytes_data, exclude=exclude)
        return self._keep_overrides(given)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> RefReader:
        """Load from a folder; settings that were overridden at load survive."""
        given = self.cfg
        self.cfg = dict(given)
        super().from_disk(path, exclude=exclude)
        return self._keep_overrides(given)

    def _keep_overrides(self, given: dict[str, Any]) -> RefReader:
        """A setting configured otherwise than the saved pipe's is the user's wish."""
        saved = self.cfg["configured"]
        wished = self.cfg["configured"] = given["configured"]
        # Compared as it is saved: spaCy's JSON changes the last digit of some floats.
        for name, value in srsly.json_loads(srsly.json_dumps(wished)).items():
            if value != saved.get(name, value):
                self.cfg[name] = wished[name]
        return self
