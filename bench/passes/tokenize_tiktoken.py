"""tiktoken with the vocabulary of a tokenizer.json, and its own forms of the same patterns, which are faster."""

from __future__ import annotations

import json
from pathlib import Path

import tiktoken
from ids import encode
from work import Work

CONTRACTIONS, END = r"'(?i:[sdmt]|ll|ve|re)", r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
WORDS, SIGNS = r"|[^\r\n\p{L}\p{N}]?+\p{L}++", r"| ?[^\s\p{L}\p{N}]++[\r\n]*+"
PATTERNS = {
    "gpt2": r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
    "llama3": CONTRACTIONS + WORDS + r"|\p{N}{1,3}+" + SIGNS + END,
    "qwen3": CONTRACTIONS + WORDS + r"|\p{N}" + SIGNS + END,
}


def alphabet() -> dict[str, int]:
    """The byte that each character of a byte-level vocabulary stands for."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in shown]
    return {chr(byte): byte for byte in shown} | {chr(256 + at): byte for at, byte in enumerate(hidden)}


def main() -> None:
    work = Work.from_args()
    file, name = work.arguments
    byte = alphabet()
    vocabulary = json.loads(Path(file).read_text(encoding="utf-8"))["model"]["vocab"]
    ranks = {bytes(byte[each] for each in token): rank for token, rank in vocabulary.items() if all(each in byte for each in token)}
    encoding = tiktoken.Encoding(name, pat_str=PATTERNS[name], mergeable_ranks=ranks, special_tokens={})
    encode(work, lambda texts: encoding.encode_ordinary_batch(texts, num_threads=work.threads))


main()
