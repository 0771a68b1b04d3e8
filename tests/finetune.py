"""A fine-tuning corpus: conversations, tokenizers, the commands over them, and the same done by the libraries that people use.

Run as a program, in an environment that has transformers, it makes tokens of conversations: `finetune.py TOKENIZER ROWS.jsonl OUT.parquet`.
"""

from __future__ import annotations

import bisect
import itertools
import json
import os
import random
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

IGNORE = -100  # the label of what is not learned
SYSTEM = "You solve problems, one step at a time."
Document = tuple[tuple[int, ...], tuple[int, ...]]  # tokens and labels

CHATML = """{%- for message in messages %}{{- '<|im_start|>' + message.role + '\\n' }}
{%- if message.role == 'assistant' %}{% generation %}{{- message.content + '<|im_end|>' }}{% endgeneration %}
{%- else %}{{- message.content + '<|im_end|>' }}{%- endif %}{{- '\\n' }}{%- endfor %}"""


def questions() -> list[dict[str, str]] | None:
    """Those of gsm8k, with their answers; None where the machine has no corpus."""
    where = os.environ.get("WEIR_CORPUS")
    file = Path(where) / "gsm8k" / "train.jsonl" if where else None
    if file is None or not file.exists():
        return None
    return read_lines(file)


def conversations(rows: list[dict[str, str]], seed: int = 5) -> list[dict[str, Any]]:
    """One conversation a question; some have a system turn, some go on with the next question, and every seventh was there before."""
    rng = random.Random(seed)
    made: list[dict[str, Any]] = []
    for number, row in enumerate(rows):
        turns = [{"role": "user", "content": row["question"]}, {"role": "assistant", "content": row["answer"]}]
        if number % 11 == 10:
            after = rows[(number * 31) % len(rows)]
            turns += [{"role": "user", "content": after["question"]}, {"role": "assistant", "content": after["answer"]}]
        if number % 5 == 0:
            turns.insert(0, {"role": "system", "content": SYSTEM})
        made.append({"id": len(made), "messages": turns})
        if number % 7 == 3:
            made.append({"id": len(made), "messages": rng.choice(made)["messages"]})
    return made


def write_lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    return path


def read_lines(path: Path) -> list[dict[str, Any]]:
    with path.open() as lines:  # splitlines ends them at other characters too
        return [json.loads(line) for line in lines]


def byte_characters() -> list[str]:
    """The character that byte-level tokenizers write for each byte."""
    plain = [b for b in range(256) if 33 <= b <= 126 or 161 <= b <= 172 or b >= 174]
    others = iter(range(256, 512))
    return [chr(b if b in plain else next(others)) for b in range(256)]


def small_tokenizer(folder: Path) -> Path:
    """A byte-level tokenizer of some merges, with a template: it is loaded in no time and needs no network."""
    letters = byte_characters()
    vocab = {letter: i for i, letter in enumerate(sorted(letters))}
    merges = []
    for pair in ("t h", "th e", "i n", "a n", "an d", "e r", "o n", "Ġ t", "Ġt h", "Ġ a", "r e", "in g", "Ġ s", "o u"):
        merges.append(pair.split(" "))
        vocab["".join(merges[-1])] = len(vocab)
    special = ["<|im_start|>", "<|im_end|>"]
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False) | {"special": True}
    added = [{"id": len(vocab) + i, "content": token} | flags for i, token in enumerate(special)]
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": True}
    model = {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None}
    model |= {"fuse_unk": False, "byte_fallback": False, "ignore_merges": False, "vocab": vocab, "merges": merges}
    whole = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None}
    whole |= {"pre_tokenizer": level, "post_processor": None, "decoder": level, "model": model}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tokenizer.json").write_text(json.dumps(whole))
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": CHATML, "eos_token": special[1]}))
    return folder / "tokenizer.json"


def recipe(source: Path | str, out: Path | str, tokenizer: Path, *, memory: str = "192MiB", length: int = 1024, **more: Any) -> str:
    """All stages in one, as YAML reads JSON."""
    tokenize = {"tokenizer": str(tokenizer), "chat": "messages", "mask": "assistant"} | more.pop("tokenize", {})
    stages = [{"dedup": {"by": ["messages"]}}, {"tokenize": tokenize}, {"pack": {"length": length}}, {"shuffle": {}}]
    write = {"path": f"{out}/"} | more.pop("write", {})
    return json.dumps({"memory": memory, "seed": 7, "read": {"paths": [str(source)]}, "stages": stages, "write": write} | more)


def rows_of(out: Path) -> pa.Table:
    """The rows of a dataset, in the order of its parts."""
    return pa.concat_tables([pq.read_table(part) for part in sorted((out / "data").glob("*.parquet"))])


def plain(column: Any) -> list[list[int]]:
    return [list(map(int, row)) for row in column]


def unpacked(row: dict[str, Any], length: int, pad: int = 0) -> Iterator[Document]:
    """The documents of a packed row, which must be right in all of its columns."""
    ids, labels, places, ends = (row[name] for name in ("input_ids", "labels", "position_ids", "cu_seqlens"))
    assert len(ids) == len(labels) == len(places) == length
    assert ends[0] == 0 and all(a < b for a, b in itertools.pairwise(ends)) and ends[-1] <= length
    for start, end in itertools.pairwise(ends):
        assert places[start:end] == list(range(end - start))
        yield tuple(ids[start:end]), tuple(labels[start:end])
    used = ends[-1]
    assert ids[used:] == [pad] * (length - used) and labels[used:] == [IGNORE] * (length - used)


def fullness(lengths: list[int], length: int) -> Counter[int]:
    """How full best-fit makes rows, longest documents first: the rows of each number of tokens."""
    rooms: list[int] = []  # of rows that are not full, ascending
    rows = 0
    for n in sorted(lengths, reverse=True):
        at = bisect.bisect_left(rooms, n)
        if at == len(rooms):
            rows += 1
            room = length
        else:
            room = rooms.pop(at)
        if room > n:
            bisect.insort(rooms, room - n)
    return Counter([length - room for room in rooms] + [length] * (rows - len(rooms)))


def spans(tokenizer: Any, turns: list[dict[str, str]], text: str) -> list[tuple[int, int]]:
    """What the assistant wrote, for templates that do not mark it: what one message more adds to the text."""
    found = []
    for i, turn in enumerate(turns):
        if turn["role"] == "assistant":
            before = tokenizer.apply_chat_template(turns[:i], tokenize=False, add_generation_prompt=True)
            upto = tokenizer.apply_chat_template(turns[: i + 1], tokenize=False)
            assert text.startswith(before) and text.startswith(upto)
            found.append((len(before), len(upto)))
    return found


def with_transformers(tokenizer: Any, turns: list[dict[str, str]]) -> Document:
    """The tokens and labels of a conversation."""
    if "{% generation %}" in tokenizer.chat_template:
        got = tokenizer.apply_chat_template(turns, return_dict=True, return_assistant_tokens_mask=True)
        ids, learned = got["input_ids"], got["assistant_masks"]
    else:
        text = tokenizer.apply_chat_template(turns, tokenize=False)
        got = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        ids, ranges = got["input_ids"], spans(tokenizer, turns, text)
        learned = [any(a < end and start < b for a, b in ranges) for start, end in got["offset_mapping"]]
    return tuple(ids), tuple(i if on else IGNORE for i, on in zip(ids, learned, strict=True))


def reference(folder: str, rows: str, out: str) -> None:
    from transformers import AutoTokenizer  # noqa: PLC0415 - only this program has it

    tokenizer = AutoTokenizer.from_pretrained(folder)
    made = [with_transformers(tokenizer, row["messages"]) for row in read_lines(Path(rows))]
    pq.write_table(pa.table({"input_ids": [list(ids) for ids, _ in made], "labels": [list(labels) for _, labels in made]}), out)


if __name__ == "__main__":
    reference(*sys.argv[1:])
