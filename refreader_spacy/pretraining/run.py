"""A run of pretraining: its steps, measures and checkpoints.

A step depends only on its number and on the checkpointed state, so a run that is
resumed gives the same results as one that was never interrupted.
"""

import json
import math
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
import srsly
import torch
from spacy.schemas import ConfigSchemaPretrain
from spacy.tokens import Doc
from spacy.util import dot_to_object, load_model_from_config, registry
from spacy.vocab import Vocab
from thinc.api import Config, Optimizer, fix_random_seed
from torch import nn

from refreader_spacy.errors import Errors
from refreader_spacy.files import atomic_write
from refreader_spacy.paper.network import NetworkState, PaperNetwork
from refreader_spacy.pretraining.blocks import Block, Cutter, passes
from refreader_spacy.pretraining.corpus import Corpus, Index, PlainText
from refreader_spacy.pretraining.language_model import (
    LanguageModel,
    Streams,
    output_layer,
    write_output,
)
from refreader_spacy.pretraining.vocabulary import Vocabulary, learn_vocabulary
from refreader_spacy.protocol import ReaderModel
from refreader_spacy.reader.encoders import word_rows
from refreader_spacy.reader.model import shim_of

CHECKPOINT = "checkpoint.pt"
BEST = "model-best"
LOG = "log.jsonl"


@dataclass(frozen=True)
class NextWord:
    """The objective's settings."""

    n_words: int
    cutoffs: list[int]
    temperature: float
    half_life: float
    eval_frequency: int
    patience: int
    writing_cost: float

    def __call__(self, vocab: Any, model: Any) -> NoReturn:
        """Called by `spacy pretrain`, which can't carry state between blocks."""
        raise ValueError(Errors.R331)


def create_next_word_v1(
    n_words: int,
    cutoffs: list[int],
    temperature: float,
    half_life: float,
    eval_frequency: int,
    patience: int,
    writing_cost: float = 0.0,
) -> NextWord:
    """A [pretraining] objective for `refreader pretrain`: predict the next word.

    n_words (int): The most frequent words are learned and predicted, each by itself.
    cutoffs (list[int]): Where the groups of rarer and rarer words begin, which are
        predicted with fewer and fewer numbers.
    temperature (float): Of the choice of the cell to overwrite, in the first pass.
    half_life (float): Passes until it has halved; it halves in steps.
    eval_frequency (int): Blocks between two measures of held-out perplexity.
    patience (int): Stop after so many measures that are no better; 0 never stops.
    writing_cost (float): Penalty on writing a word to the memory, in nats. At 0, every
        word is written, and no cell holds an entity.
    """
    return NextWord(
        n_words,
        cutoffs,
        temperature,
        half_life,
        eval_frequency,
        patience,
        writing_cost,
    )


class Report(NamedTuple):
    """Progress after a step."""

    step: int  # number of the step
    n_words: int  # read so far
    train_perplexity: float  # since the last measure
    perplexity: float | None  # of held-out articles, if just measured
    is_best: bool


class Run:
    """The state of pretraining."""

    def __init__(self, config: Config, output: Path) -> None:
        """config (Config): Of `spacy train`, with a [pretraining] section."""
        if not config.get("pretraining"):
            raise ValueError(Errors.R325)
        # Its weights are what training starts from
        config["initialize"] |= {"init_tok2vec": None, "after_init": None}
        nlp = load_model_from_config(config, auto_fill=True)
        filled = nlp.config.interpolate()
        settings = registry.resolve(filled["pretraining"], schema=ConfigSchemaPretrain)
        text = dot_to_object(filled, settings["corpus"])
        text = registry.resolve({"corpus": text})["corpus"]
        ours = settings["objective"], settings["batcher"], text
        if tuple(map(type, ours)) != (NextWord, Cutter, PlainText):
            raise ValueError(Errors.R325)
        self.seed: int = filled["training"]["seed"] or 0
        fix_random_seed(self.seed)
        self.output = output
        self.settings = _relevant_sections(filled)
        self.objective, self.cutter = ours[:2]
        self.save_every: int = settings["n_save_every"] or 0
        self.n_passes: int = settings["max_epochs"]
        with nlp.select_pipes(enable=[]):
            nlp.initialize()
        self.nlp = nlp
        pipe: Any = nlp.get_pipe(settings["component"])
        self.model: ReaderModel = pipe.model
        found = self.model.name, self.model.layers[0].name
        if found != ("refreader", "word_vectors"):
            raise ValueError(Errors.R326.format(found=" on ".join(found)))
        # A second pipeline, so that the saved vocab doesn't get all words of the text
        scratch = load_model_from_config(config, auto_fill=True)
        self.corpus: Corpus = text(scratch)
        self.vocabulary, rows, classes = self._vocabulary(scratch.vocab)
        self.language_model = self._language_model(settings["dropout"])
        self.texts = rows, classes, self.corpus.tokens
        self.streams = Streams(self.language_model, self.cutter.n_streams, *self.texts)
        self._plan(settings["optimizer"])
        self.step = self.n_words = 0
        self.loss = 0.0  # since the last measure, and of so many words:
        self.n_lost = 0
        self.log: list[dict[str, float]] = []

    def _vocabulary(self, vocab: Vocab) -> tuple[Vocabulary, Index, Index]:
        """The vocabulary, and the row and the class of each word of the text."""
        encoder = self.model.layers[0]
        self.model.initialize(X=[self.nlp.make_doc("A text")])
        words, counts = self.corpus.words, self.corpus.counts()
        n_words = self.objective.n_words
        vocabulary = learn_vocabulary(encoder, vocab, words, counts, n_words)
        doc = Doc(vocab, words=words)
        rows = word_rows(encoder, doc).astype(np.int64)
        return vocabulary, rows, vocabulary.classes(doc)

    def _language_model(self, dropout: float) -> LanguageModel:
        reader: PaperNetwork = shim_of(self.model)._model
        reader.dropout = dropout
        table: Any = self.model.layers[0].get_param("E")
        size, n_classes = len(reader.initial_hidden), len(self.vocabulary)
        output = output_layer(size, n_classes, self.objective.cutoffs)
        return LanguageModel(torch.from_numpy(table), reader, output)

    def _plan(self, optimizer: Optimizer) -> None:
        """The order of reading, learning rates and optimizers.

        The settings are those of Thinc's optimizer, but torch's optimizers are used.
        """
        starts, articles = self.corpus.starts, self.corpus.learned_from
        self.articles = passes(articles, self.n_passes, self.seed)
        lengths = np.diff(starts)
        self.words_in_pass = int(lengths[articles].sum())
        self.n_steps = sum(1 for _ in self.cutter(starts, self.articles))
        self.rates = []
        for _ in range(self.n_steps):
            self.rates.append(float(optimizer.learn_rate))
            optimizer.step_schedules()
        if not self.rates[-1] > 0:
            raise ValueError(
                Errors.R327.format(n_steps=self.n_steps, n_passes=self.n_passes)
            )
        embedded, *dense = self.language_model.parameters()
        betas = optimizer.b1, optimizer.b2
        self.dense, self.clip = dense, optimizer.grad_clip
        self.optimizers = [
            torch.optim.AdamW(
                dense,
                betas=betas,
                eps=optimizer.eps,
                weight_decay=optimizer.L2,
                fused=True,
            ),
            # Only the rows of words that were read: the table is most of the model
            torch.optim.SparseAdam([embedded], betas=betas, eps=optimizer.eps),
        ]

    @property
    def best(self) -> float:
        """The lowest perplexity that was measured."""
        return min((entry["perplexity"] for entry in self.log), default=math.inf)

    @property
    def is_over(self) -> bool:
        """Whether all passes are done, or patience is exhausted."""
        measured = [entry["perplexity"] for entry in self.log]
        since = len(measured) - 1 - measured.index(self.best) if measured else 0
        stopped = 0 < self.objective.patience <= since
        return stopped or self.step == self.n_steps

    def __iter__(self) -> Iterator[Report]:
        """Train until the end; checkpoints are written before the step's report."""
        blocks = self.cutter(self.corpus.starts, self.articles)
        for block in islice(blocks, self.step, None):
            if self.is_over:
                return
            self.learn(block)
            train_perplexity = math.exp(self.loss / self.n_lost)
            last = self.step == self.n_steps
            perplexity, is_best = None, False
            if last or self.step % self.objective.eval_frequency == 0:
                perplexity = self.measure()
                is_best = perplexity < self.best
                self._note(train_perplexity, perplexity)
                if is_best:
                    self._save_best()
            if last or (self.save_every and self.step % self.save_every == 0):
                self.save()
            yield Report(self.step, self.n_words, train_perplexity, perplexity, is_best)

    def learn(self, block: Block) -> None:
        """One step."""
        cooled = self.n_words // self.words_in_pass // self.objective.half_life
        self.language_model.train()
        prediction = self.streams.read(block, self.objective.temperature * 0.5**cooled)
        lost, n_words = -prediction.log_probability.sum(), len(prediction.written)
        cost = self.objective.writing_cost * prediction.written.sum()
        # A fixed divisor: blocks of few words, at the end of the text, count less
        loss = (lost + cost) / (self.cutter.n_streams * self.cutter.length)
        for optimizer in self.optimizers:
            optimizer.zero_grad()
        loss.backward()
        if self.clip:
            nn.utils.clip_grad_norm_(self.dense, self.clip)
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = self.rates[self.step]
            optimizer.step()
        self.step += 1
        self.n_words += n_words
        self.n_lost += n_words
        self.loss += lost.item()

    @torch.no_grad()
    def measure(self) -> float:
        """The perplexity of the articles that are held out."""
        self.language_model.eval()
        streams = Streams(self.language_model, self.cutter.n_streams, *self.texts)
        total, n_words = 0.0, 0
        for block in self.cutter(self.corpus.starts, self.corpus.held_out):
            found = streams.read(block).log_probability
            total -= found.sum().item()
            n_words += len(found)
        return math.exp(total / n_words)

    def _note(self, train_perplexity: float, perplexity: float) -> None:
        self.log.append(
            {
                "step": self.step,
                "words": self.n_words,
                "learn_rate": self.rates[self.step - 1],
                "train_perplexity": train_perplexity,
                "perplexity": perplexity,
            }
        )
        self.loss, self.n_lost = 0.0, 0
        with atomic_write(self.output / LOG) as draft:
            srsly.write_jsonl(draft, self.log)

    def _save_best(self) -> None:
        """A pipeline; the model in it is what [initialize] init_tok2vec takes."""
        shim_of(self.model).changed()
        write_output(self.model, self.vocabulary, self.language_model.output)
        self.model.attrs["trained"] = True
        with atomic_write(self.output / BEST) as draft:
            self.nlp.to_disk(draft)

    def save(self) -> None:
        """Write a checkpoint to one file, atomically."""
        checkpoint = {
            "settings": self.settings,
            "step": self.step,
            "n_words": self.n_words,
            "loss": self.loss,
            "n_lost": self.n_lost,
            "log": self.log,
            "model": self.language_model.state_dict(),
            "optimizers": [each.state_dict() for each in self.optimizers],
            "streams": list(self.streams.state),
            "random": torch.get_rng_state(),
        }
        with atomic_write(self.output / CHECKPOINT) as draft:
            torch.save(checkpoint, draft)

    def load(self) -> None:
        """Restore the checkpoint in the output folder."""
        for name in (CHECKPOINT, BEST, LOG):  # left by interrupted writes
            for stale in self.output.glob(f".{name}-*"):
                shutil.rmtree(stale)
        checkpoint = torch.load(self.output / CHECKPOINT, weights_only=True)
        for name, now in self.settings.items():
            if checkpoint["settings"].get(name) != now:
                raise ValueError(Errors.R328.format(path=self.output, section=name))
        self.step, self.n_words = checkpoint["step"], checkpoint["n_words"]
        self.loss, self.n_lost = checkpoint["loss"], checkpoint["n_lost"]
        self.log = checkpoint["log"]
        self.language_model.load_state_dict(checkpoint["model"])
        for optimizer, state in zip(
            self.optimizers, checkpoint["optimizers"], strict=True
        ):
            optimizer.load_state_dict(state)
        self.streams.state = NetworkState(*checkpoint["streams"])
        torch.set_rng_state(checkpoint["random"])


def _relevant_sections(config: Config) -> dict[str, str]:
    """The sections of a config that a run depends on."""
    corpus = config["pretraining"]["corpus"]
    name = config["pretraining"]["component"]
    sections = {
        "pretraining": config["pretraining"],
        corpus: dot_to_object(config, corpus),
        f"components.{name}.model": config["components"][name]["model"],
        "training.seed": config["training"]["seed"],
        "initialize.vectors": config["initialize"]["vectors"],
    }
    return {k: json.dumps(v, sort_keys=True, default=str) for k, v in sections.items()}
