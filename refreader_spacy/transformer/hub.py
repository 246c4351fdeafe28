"""A transformer from the Hugging Face hub or a folder, up to the highest used layer."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import srsly
import torch
from safetensors.torch import load as tensors_from_bytes
from safetensors.torch import save as tensors_to_bytes
from torch import nn
from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForCausalLM,
    AutoTokenizer,
)
from transformers.utils import logging

from refreader_spacy.errors import Errors
from refreader_spacy.transformer.hidden import Pooling
from refreader_spacy.transformer.layers import layer_names, looks_ahead, take_out_norm


class Loaded(NamedTuple):
    """A transformer, its tokenizer and its special word pieces."""

    tokenizer: Any
    transformer: Any
    prefix: list[int]  # special pieces before each window
    suffix: list[int]
    head: nn.Module | None = None  # predicts the next piece from the highest layer


@dataclass(frozen=True)
class Hub:
    """Which transformer, which of its layers, and how they are used."""

    name: str
    layers: tuple[int, ...]
    window: int
    stride: int
    lookahead: bool
    trained_layers: int
    save_weights: bool
    mixed_precision: bool = False
    pooling: Pooling = "mean"
    surprisal: bool = False
    adapter_rank: int = 0

    def __post_init__(self) -> None:
        layers = self.layers
        if not layers or min(layers) < 0 or len(set(layers)) < len(layers):
            raise ValueError(Errors.R302.format(found=list(layers)))
        if not 0 < self.stride <= self.window:
            raise ValueError(Errors.R303.format(window=self.window, stride=self.stride))
        if not 0 <= self.trained_layers <= self.n_layers:
            raise ValueError(
                Errors.R304.format(found=self.trained_layers, n_layers=self.n_layers)
            )
        if self.adapter_rank < 0 or (self.adapter_rank and not self.trained_layers):
            raise ValueError(
                Errors.R338.format(rank=self.adapter_rank, found=self.trained_layers)
            )
        if self.trains_weights and not self.save_weights:
            raise ValueError(Errors.R305.format(found=self.trained_layers))
        if self.surprisal and self.lookahead:
            raise ValueError(Errors.R316)

    @property
    def n_layers(self) -> int:
        """How many layers vectors depend on."""
        return max(self.layers)

    @property
    def trains_weights(self) -> bool:
        """Whether the transformer's own weights learn, not additions to them."""
        return self.trained_layers > 0 and not self.adapter_rank

    @property
    def may_round(self) -> bool:
        """Whether weights may be bfloat16: not if they learn, are saved or shared."""
        return self.mixed_precision and not (
            self.trains_weights or self.save_weights or self.surprisal
        )

    def trained_names(self, transformer: Any) -> list[str]:
        """The names of the layers that are trained, as modules."""
        layers = layer_names(transformer)[: self.n_layers]
        return layers[self.n_layers - self.trained_layers :]

    def load(self) -> Loaded:
        """From the hub, its cache on this machine, or a folder."""
        return self._from(self.name, weights=None)

    def to_bytes(self, loaded: Loaded) -> bytes:
        """Tokenizer, config and weights, to load without the hub."""
        with TemporaryDirectory() as folder:
            loaded.tokenizer.save_pretrained(folder)
            loaded.transformer.config.save_pretrained(folder)
            paths = sorted(path for path in Path(folder).iterdir() if path.is_file())
            files = {path.name: path.read_bytes() for path in paths}
        state = loaded.transformer.state_dict()
        if loaded.head is not None:
            state |= loaded.head.state_dict(prefix=HEAD)
        weights = tensors_to_bytes(
            {k: v.cpu().contiguous().clone() for k, v in state.items()}
        )
        return bytes(srsly.msgpack_dumps({"files": files, "weights": weights}))

    def from_bytes(self, data: bytes) -> Loaded:
        """What `to_bytes` saved."""
        saved = srsly.msgpack_loads(data)
        with TemporaryDirectory() as folder:
            for name, content in saved["files"].items():
                Path(folder, name).write_bytes(content)
            return self._from(folder, tensors_from_bytes(saved["weights"]))

    def fingerprint(self, loaded: Loaded) -> str:
        """A hash of all that vectors depend on: weights, word pieces, layers, windows.

        If the code ever computes other vectors from these, change the hash too.
        """
        digest = hashlib.blake2b(digest_size=16)
        how = {k: v for k, v in asdict(self).items() if k not in NOT_IN_FINGERPRINT}
        if not self.mixed_precision:  # so that older fingerprints stay valid
            del how["mixed_precision"]
        if self.pooling == "mean":
            del how["pooling"]
        if not self.lookahead:
            how["prefix"] = loaded.prefix
        digest.update(repr(sorted(how.items())).encode())
        digest.update(loaded.tokenizer.backend_tokenizer.to_str().encode())
        unused = tuple(
            f"{name}." for name in layer_names(loaded.transformer)[self.n_layers :]
        )
        for name, tensor in sorted(loaded.transformer.state_dict().items()):
            if name.startswith(unused):
                continue
            digest.update(f"{name} {tuple(tensor.shape)}".encode())
            digest.update(tensor.detach().cpu().contiguous().numpy().data)
        return digest.hexdigest()

    def _from(self, source: str, weights: dict[str, torch.Tensor] | None) -> Loaded:
        with self._loading_errors(), _no_warnings():
            config = AutoConfig.from_pretrained(source)
            tokenizer = AutoTokenizer.from_pretrained(source)
        self._check(config, tokenizer)
        if not self.surprisal:
            config.num_hidden_layers = self.n_layers
        config.use_cache = False  # of keys and values, for generating text
        kind = AutoModelForCausalLM if self.surprisal else AutoModel
        with self._loading_errors(), _no_warnings():
            if weights is None:
                whole = kind.from_pretrained(source, config=config)
            else:
                whole = kind.from_config(config)
        transformer = whole.base_model
        if getattr(transformer, "pooler", None) is not None:
            transformer.pooler = None  # not used, and often not trained
        norm = take_out_norm(transformer)
        head = None
        if self.surprisal:
            head = nn.Sequential(norm, whole.get_output_embeddings())
        if weights is not None:
            self._load(weights, transformer, head)
        self._freeze(transformer, head)
        loaded = Loaded(tokenizer, transformer, *self._special(tokenizer), head)
        limit = min(
            tokenizer.model_max_length,
            getattr(config, "max_position_embeddings", tokenizer.model_max_length),
        )
        limit -= len(loaded.prefix) + len(loaded.suffix)
        if self.window > limit:
            raise ValueError(
                Errors.R309.format(name=self.name, found=self.window, limit=limit)
            )
        if not self.lookahead and looks_ahead(transformer.eval()):
            raise ValueError(Errors.R308.format(name=self.name))
        return loaded

    def _check(self, config: Any, tokenizer: Any) -> None:
        if not tokenizer.is_fast or getattr(config, "is_encoder_decoder", False):
            raise ValueError(Errors.R306.format(name=self.name))
        if self.n_layers > config.num_hidden_layers:
            raise ValueError(
                Errors.R307.format(
                    name=self.name,
                    found=list(self.layers),
                    n_layers=config.num_hidden_layers,
                )
            )

    def _load(
        self, weights: dict[str, torch.Tensor], transformer: Any, head: Any
    ) -> None:
        """Load saved weights; those that were for surprisal only may be left over."""
        if head is not None:
            names = head.state_dict()
            if not all(HEAD + name in weights for name in names):
                raise ValueError(Errors.R317.format(name=self.name))
            head.load_state_dict({name: weights[HEAD + name] for name in names})
        names = transformer.state_dict()
        transformer.load_state_dict({name: weights[name] for name in names})

    def _freeze(self, transformer: Any, head: Any) -> None:
        """Freeze all but the trained layers, or nothing if all layers are trained."""
        if head is not None:
            head.requires_grad_(False)
        every = self.trained_layers == self.n_layers
        transformer.requires_grad_(self.trains_weights and every)
        if self.trains_weights:
            for name in self.trained_names(transformer):
                transformer.get_submodule(name).requires_grad_(True)

    def _special(self, tokenizer: Any) -> tuple[list[int], list[int]]:
        """The pieces before and after each window.

        A language model predicts a text's first piece from one that begins texts, also
        where its tokenizer doesn't add that by itself.
        """
        prefix, suffix = _special_pieces(tokenizer)
        if not self.lookahead and not prefix:
            known = tokenizer.bos_token_id, tokenizer.eos_token_id
            prefix = [number for number in known if number is not None][:1]
        if self.surprisal and not prefix:
            raise ValueError(Errors.R318.format(name=self.name))
        return prefix, suffix if self.lookahead else []

    @contextmanager
    def _loading_errors(self) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError) as error:
            problem = str(error).strip().partition("\n")[0].rstrip(".")
            raise ValueError(
                Errors.R301.format(name=self.name, problem=problem)
            ) from error


# What doesn't change the vectors, or changes them through the weights alone
NOT_IN_FINGERPRINT = {
    "name", "trained_layers", "save_weights", "surprisal", "adapter_rank"
}  # fmt: skip
HEAD = "head."  # begins the names of weights that predict pieces


def _special_pieces(tokenizer: Any) -> tuple[list[int], list[int]]:
    """The pieces that the tokenizer adds before and after a text."""
    bare = tokenizer("a", add_special_tokens=False)["input_ids"]
    full = tokenizer("a")["input_ids"]
    start = next(i for i in range(len(full)) if full[i : i + len(bare)] == bare)
    return full[:start], full[start + len(bare) :]


@contextmanager
def _no_warnings() -> Iterator[None]:
    """No warnings about layers that were left out on purpose."""
    level = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(level)
