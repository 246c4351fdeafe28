"""Transformers for tests: three layers of width 8, word pieces learned from a line."""

from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from tokenizers.normalizers import BertNormalizer
from transformers import (
    BertConfig,
    BertModel,
    BertTokenizerFast,
    GPT2Config,
    GPT2LMHeadModel,
    GPT2TokenizerFast,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaModel,
    RobertaTokenizerFast,
)

TEXT = (
    "Ann Lee met Bo because she was late. Bo told Ann Lee that he can't stay. "
    '"I was late," she said, "and he was not."'
)
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]
SIZES = {
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "hidden_size": 8,
    "intermediate_size": 16,
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
    "initializer_range": 0.5,  # so that tokens notice each other
}


def save_tiny(kind: str, folder: Path) -> None:
    """Write a "bert", "roberta", "gpt2" or "llama"."""
    torch.manual_seed(0)
    makers = {"bert": _bert, "roberta": _roberta, "gpt2": _gpt2, "llama": _llama}
    tokenizer, model = makers[kind]()
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)


def _bert():
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    pieces.normalizer = BertNormalizer(lowercase=True)
    pieces.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=90, special_tokens=special)
    pieces.train_from_iterator([TEXT], trainer)
    pieces.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer = BertTokenizerFast(tokenizer_object=pieces, model_max_length=64)
    config = BertConfig(
        vocab_size=len(tokenizer),
        max_position_embeddings=64,
        **SIZES,
    )
    return tokenizer, BertModel(config)


def _roberta():
    pieces = _bytes()
    pieces.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    tokenizer = RobertaTokenizerFast(tokenizer_object=pieces, model_max_length=64)
    config = RobertaConfig(
        vocab_size=len(tokenizer),
        max_position_embeddings=66,
        **SIZES,
    )
    return tokenizer, RobertaModel(config)


def _gpt2():
    pieces = _bytes()
    pieces.post_processor = processors.ByteLevel(trim_offsets=False)
    tokenizer = GPT2TokenizerFast(tokenizer_object=pieces, model_max_length=64)
    config = GPT2Config(
        vocab_size=len(tokenizer),
        n_layer=3,
        n_head=2,
        n_embd=8,
        n_positions=64,
        initializer_range=0.5,
    )
    return tokenizer, GPT2LMHeadModel(config)


def _llama():
    """As SmolLM2: grouped keys, tied embeddings, a piece that begins each text."""
    pieces = _bytes()
    pieces.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", 0)]
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=pieces, bos_token="<s>", eos_token="</s>", model_max_length=64
    )
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        num_hidden_layers=3,
        num_attention_heads=2,
        num_key_value_heads=1,
        hidden_size=8,
        intermediate_size=16,
        max_position_embeddings=64,
        bos_token_id=0,
        eos_token_id=2,
        pad_token_id=1,
        tie_word_embeddings=True,
        initializer_range=0.5,
    )
    model = LlamaForCausalLM(config)
    for norm in (m for name, m in model.named_modules() if name.endswith("norm")):
        torch.nn.init.uniform_(norm.weight, 0.5, 1.5)
    return tokenizer, model


def _bytes() -> Tokenizer:
    pieces = Tokenizer(models.BPE())
    pieces.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    pieces.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=SPECIAL,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    pieces.train_from_iterator([TEXT], trainer)
    return pieces
