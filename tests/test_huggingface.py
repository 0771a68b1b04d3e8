"""Hugging Face datasets: what they save is read, and what weir writes they load."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import rows
from binary import digest, inspect, table, weir
from compare import differences

hf = pytest.importorskip("datasets", reason="Hugging Face datasets is not installed")


@pytest.fixture(autouse=True)
def quiet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No network, and a cache of the test's own."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    hf.disable_progress_bars()


def source() -> pa.Table:
    table = rows.chat(0, 2_000)
    return table.append_column("label", pa.array([i % 3 for i in range(2_000)]))


def as_dataset() -> Any:
    features = hf.Features.from_arrow_schema(source().schema) | {"label": hf.ClassLabel(names=["a", "b", "c"])}
    return hf.Dataset(source()).cast(hf.Features(features))


@pytest.mark.parametrize("shards", [1, 3])
def test_a_saved_dataset_is_read(tmp_path: Path, shards: int) -> None:
    as_dataset().save_to_disk(tmp_path / "saved", num_shards=shards)
    assert inspect(tmp_path / "saved")["format"] == "arrow"
    for cut in ([], ["--batch-size", "7", "--threads", "4", "--memory", "64MiB"]):
        assert differences(table(tmp_path / "saved", *cut), source()) == []


def test_leftovers_of_earlier_work_are_no_rows(tmp_path: Path) -> None:
    as_dataset().save_to_disk(tmp_path / "saved")
    shard = tmp_path / "saved" / "data-00000-of-00001.arrow"
    (tmp_path / "saved" / "cache-0123456789abcdef.arrow").write_bytes(shard.read_bytes())
    assert differences(table(tmp_path / "saved"), source()) == []


def test_splits_of_a_saved_dictionary_are_read(tmp_path: Path) -> None:
    whole = as_dataset()
    splits = hf.DatasetDict({"train": whole.select(range(1_500)), "test": whole.select(range(1_500, 2_000))})
    splits.save_to_disk(tmp_path / "saved")
    assert differences(table(tmp_path / "saved" / "test"), source()[1_500:]) == []
    assert table(tmp_path / "saved").num_rows == 2_000


@pytest.mark.parametrize(("to", "loader"), [("parquet", "parquet"), ("jsonl", "json"), ("arrow", "arrow")])
def test_what_weir_writes_is_loaded(tmp_path: Path, to: str, loader: str) -> None:
    as_dataset().save_to_disk(tmp_path / "saved")
    weir("scan", tmp_path / "saved", "--to", to, "-o", f"{tmp_path}/out/", "--part-size", "300KB", "--quiet").done()
    files = sorted(map(str, (tmp_path / "out").iterdir()))
    assert len(files) > 1
    loaded = hf.load_dataset(loader, data_files=files, split="train", cache_dir=str(tmp_path / "cache"))
    assert loaded.num_rows == 2_000
    assert loaded[:]["messages"] == source()["messages"].to_pylist()
    assert digest(tmp_path / "out") == digest(tmp_path / "saved")


def test_a_stream_of_weir_is_a_dataset_without_a_copy(tmp_path: Path) -> None:
    as_dataset().save_to_disk(tmp_path / "saved")
    weir("scan", tmp_path / "saved", "--to", "arrow", "-o", tmp_path / "a.arrows", "--quiet").done()
    loaded = hf.Dataset.from_file(str(tmp_path / "a.arrows"))
    assert loaded.features["label"] == hf.ClassLabel(names=["a", "b", "c"])
    assert loaded[5] == source().to_pylist()[5]
