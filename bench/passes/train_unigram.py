"""Trains a Unigram tokenizer.json of 32,000 pieces, as SentencePiece's are, on a dataset of texts: `train_unigram.py DATA FILE`."""

from __future__ import annotations

import sys

import pyarrow.parquet as pq
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers


def main() -> None:
    data, file = sys.argv[1:]
    texts = pq.read_table(data, columns=["text"])["text"].to_pylist()
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=32_000, unk_token="<unk>", special_tokens=["<unk>"], show_progress=False)
    tokenizer.train_from_iterator(texts[:: max(1, len(texts) // 12_000)], trainer)
    tokenizer.save(file)


main()
