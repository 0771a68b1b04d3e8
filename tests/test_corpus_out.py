"""What a corpus is written as beside Parquet: MDS for mosaicml-streaming and arrays for NumPy, killed, verified and loaded."""

from __future__ import annotations

import json
import random
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import environment
import s3
from binary import MIB, command, table
from binary import weir as run
from finetune import conversations, recipe, rows_of, small_tokenizer, write_lines
from loading import weir
from prepared import tree
from test_corpus_kill import corpus
from test_corpus_memory import holds, lengths, linux, tokens

LENGTH = 256
MATRICES = ("input_ids", "labels", "position_ids")
SHARD = "256KiB"
CHAPTER = "2MiB"  # of eight shards: which documents are packed together depends on it
PATIENCE = 300  # seconds; importing torch is most of them
KILLS = 12

# Runs where mosaicml-streaming is: the samples of a directory, which must be arrays, as one file for NumPy.
STREAMED = """
import sys
import numpy as np
from streaming import StreamingDataset

data = StreamingDataset(remote=sys.argv[3] if len(sys.argv) > 3 else None, local=sys.argv[1], batch_size=1)
rows = [data[i] for i in range(len(data))]
assert all(isinstance(value, np.ndarray) and value.dtype == np.int32 for row in rows for value in row.values())
bounds = [row.pop("cu_seqlens") for row in rows if "cu_seqlens" in row]
ends = np.cumsum([len(b) for b in bounds])
np.savez(sys.argv[2], cu_seqlens=np.concatenate(bounds), ends=ends, **{name: np.stack([row[name] for row in rows]) for name in rows[0]})
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Conversations, their tokens, and these packed, as Parquet."""
    made = tmp_path_factory.mktemp("corpus")
    tokenizer = small_tokenizer(made / "tokenizer")
    source = write_lines(made / "chats.jsonl", conversations(corpus(6_000)))
    into = ["-o", f"{made / 'tokens'}/", "--memory", "192MiB", "--quiet"]
    run("tokenize", source, *into, "--tokenizer", tokenizer, "--chat", "messages").done()
    run(*pack(made, made / "packed", "--part-size", CHAPTER)).done()
    return made


def pack(folder: Path, out: Path | str, *more: str) -> list[str]:
    return ["pack", str(folder / "tokens"), "-o", f"{out}/", "--length", str(LENGTH), "--memory", "192MiB", "--quiet", *more]


def shuffle(folder: Path, out: Path | str, *more: str) -> list[str]:
    columns = ["--columns", ",".join(MATRICES)]
    return ["shuffle", str(folder / "packed"), "-o", f"{out}/", *columns, "--seed", "3", "--memory", "192MiB", "--quiet", *more]


OUTPUTS = {"mds": ["--to", "mds", "--part-size", SHARD], "npy": ["--npy", "--part-size", CHAPTER]}
COMMANDS = {"pack": pack, "shuffle": shuffle}


def matrix(rows: pa.Table, name: str) -> npt.NDArray[np.int32]:
    column = rows[name].combine_chunks()
    return np.asarray(column.flatten().to_numpy(), np.int32).reshape(len(rows), -1)


def streamed(out: Path, file: Path, *remote: Path) -> dict[str, npt.NDArray[np.int32]]:
    try:
        python = environment.python("mds")
    except (subprocess.CalledProcessError, SystemExit) as why:
        pytest.skip(f"mosaicml-streaming cannot be installed here: {why}")
    args = [str(python), "-c", STREAMED, str(out), str(file), *map(str, remote)]
    done = subprocess.run(args, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr[-2_000:]
    return dict(np.load(file))


def test_mds_gives_the_rows_of_parquet_as_arrays(folder: Path, tmp_path: Path) -> None:
    out, want = tmp_path / "out", rows_of(folder / "packed")
    run(*pack(folder, out, *OUTPUTS["mds"])).done()
    shards = sorted((out / "data").glob("*.mds"))
    assert len(shards) > 20 and max(shard.stat().st_size for shard in shards) <= 256 << 10
    got = streamed(out, tmp_path / "rows.npz")
    for name in MATRICES:
        assert np.array_equal(got[name], matrix(want, name)), name
    bounds = want["cu_seqlens"].to_pylist()
    assert np.array_equal(got["cu_seqlens"], np.concatenate(bounds)) and np.array_equal(got["ends"], np.cumsum([len(b) for b in bounds]))
    run("verify", out).done()  # the library left nothing there, and all is as it was
    assert table(out, "--columns", "input_ids")["input_ids"].to_pylist() == want["input_ids"].to_pylist()


def test_compressed_shards_are_the_same_rows(folder: Path, tmp_path: Path) -> None:
    """Fetched, as from afar: that is where they are decompressed."""
    out, want = tmp_path / "out", rows_of(folder / "packed")
    run(*pack(folder, out, *OUTPUTS["mds"], "--codec", "zstd")).done()
    shards = [path.stat().st_size for path in (out / "data").glob("*.mds.zstd")]
    assert len(shards) > 20 and sum(shards) < len(want) * LENGTH * 12 / 3
    got = streamed(tmp_path / "local", tmp_path / "rows.npz", out)
    for name in MATRICES:
        assert np.array_equal(got[name], matrix(want, name)), name
    run("verify", out).done()
    assert table(out, "--columns", "labels")["labels"].to_pylist() == want["labels"].to_pylist()


def test_arrays_are_the_rows_of_the_parts(folder: Path, tmp_path: Path) -> None:
    for name, arguments in COMMANDS.items():
        out = tmp_path / name
        run(*arguments(folder, out, *OUTPUTS["npy"])).done()
        rows = rows_of(out)
        said = {array["name"]: array for array in json.loads((out / "manifest.json").read_bytes())["arrays"]}
        assert sorted(said) == sorted(path.name for path in out.glob("*.npy")) == [f"{name}.npy" for name in MATRICES]
        for column in MATRICES:
            array = np.load(out / f"{column}.npy", mmap_mode="r")
            assert isinstance(array, np.memmap) and array.dtype == np.int32 and array.shape == (len(rows), LENGTH)
            assert np.array_equal(array, matrix(rows, column))
            about = said[f"{column}.npy"]
            assert (about["shape"], about["dtype"], about["columns"]) == (list(array.shape), "int32", [column])
        run("verify", out).done()


def test_columns_of_numbers_become_arrays_of_their_type(tmp_path: Path) -> None:
    kinds = ["int8", "uint16", "int32", "uint64", "float16", "float32", "float64", "bool"]
    rng = np.random.default_rng(1)
    columns = {kind: rng.integers(0, 2, 1_000).astype(kind) for kind in kinds}
    flat = rng.integers(0, 2, 3_000).astype(bool)
    pq.write_table(pa.table(columns | {"flags": pa.FixedSizeListArray.from_arrays(pa.array(flat), 3)}), tmp_path / "in.parquet")
    run("shuffle", tmp_path / "in.parquet", "-o", f"{tmp_path / 'out'}/", "--npy", "--memory", "128MiB", "--quiet").done()
    rows = rows_of(tmp_path / "out")
    for kind in kinds:
        array = np.load(tmp_path / "out" / f"{kind}.npy")
        assert array.dtype == kind and np.array_equal(array, rows[kind].to_numpy())
    assert np.array_equal(np.load(tmp_path / "out" / "flags.npy"), np.array(rows["flags"].to_pylist()))


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_killed_run_ends_with_the_same_bytes(folder: Path, tmp_path: Path, name: str, output: str) -> None:
    out, arguments = tmp_path / "out", COMMANDS[name]
    began = time.monotonic()
    run(*arguments(folder, out, *OUTPUTS[output])).done()
    took, want = time.monotonic() - began, tree(tmp_path)
    draw, kills = random.Random(f"{name} {output}"), 0
    while kills < KILLS:
        shutil.rmtree(out)
        for _ in range(draw.randint(1, 3)):
            args = arguments(folder, out, *OUTPUTS[output], "--threads", str(draw.choice((1, 2, 8))))
            process = subprocess.Popen(command(*args), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            with suppress(subprocess.TimeoutExpired):
                process.wait(took * draw.random())
            process.send_signal(signal.SIGKILL)
            kills += process.wait() == -signal.SIGKILL
        last = run(*arguments(folder, out, *OUTPUTS[output]))
        assert last.code == 0 or "holds a finished dataset" in last.err, last.err
        assert tree(tmp_path) == want, f"after {kills} kills"


@pytest.mark.parametrize("output", OUTPUTS)
def test_verify_and_force_know_what_lies_beside_the_parts(folder: Path, tmp_path: Path, output: str) -> None:
    out = tmp_path / "out"
    run(*pack(folder, out, *OUTPUTS[output])).done()
    beside = out / {"mds": "index.json", "npy": "labels.npy"}[output]
    right = beside.read_bytes()
    beside.write_bytes(right[:-9] + b"x" + right[-8:])
    altered = run("verify", out)
    assert altered.code == 4 and f"{beside.name}: the digest is".encode() in altered.out
    beside.unlink()
    missing = run("verify", out)
    assert missing.code == 4 and f"{beside.name}: missing".encode() in missing.out
    beside.write_bytes(right)
    run(*pack(folder, out, "--force")).done()
    assert sorted(path.name for path in out.iterdir()) == ["data", "manifest.json"]
    run("verify", out).done()


def test_a_recipe_writes_the_same(folder: Path, tmp_path: Path) -> None:
    made, big = {}, {"part_size": CHAPTER}
    for name, write in {"parquet": big, "mds": {"format": "mds", "part_size": SHARD}, "npy": big | {"npy": True}}.items():
        file, out = tmp_path / f"{name}.yaml", tmp_path / name
        file.write_text(recipe(folder / "chats.jsonl", out, folder / "tokenizer" / "tokenizer.json", length=LENGTH, write=write))
        run("run", file, "--quiet").done()
        made[name] = table(out, "--columns", ",".join(MATRICES))
    assert made["parquet"].equals(made["npy"])
    for name in MATRICES:
        assert np.array_equal(matrix(made["mds"], name), matrix(made["parquet"], name))
        assert np.array_equal(np.load(tmp_path / "npy" / f"{name}.npy"), matrix(made["parquet"], name))


def test_the_loader_gives_matrices(folder: Path, tmp_path: Path) -> None:
    want = rows_of(folder / "packed")
    for output, more in OUTPUTS.items():
        run(*pack(folder, tmp_path / output, *more)).done()
    for source in (tmp_path / "mds", tmp_path / "npy"):
        options = {"columns": list(MATRICES), "batch_size": 64, "shuffle": False, "memory": "192MiB", "output": "numpy"}
        with weir.loader(source, **options) as loader:
            batches = [{name: batch[name].copy() for name in MATRICES} for batch in loader]
        for name in MATRICES:
            assert batches[0][name].shape == (64, LENGTH) and batches[0][name].dtype == np.int32
            assert np.array_equal(np.concatenate([batch[name] for batch in batches]), matrix(want, name))
    with weir.loader(tmp_path / "npy" / "labels.npy", batch_size=64, shuffle=False, memory="192MiB", output="numpy") as loader:
        assert np.array_equal(np.concatenate([batch.copy() for batch in loader]), matrix(want, "labels"))


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("documents") / "tokens.parquet"
    tokens(file)
    return file


@linux
@pytest.mark.parametrize("output", ("mds", "npy"))
@pytest.mark.parametrize("length", (512, 8192))
def test_the_memory_that_a_refusal_names_is_enough(documents: Path, tmp_path: Path, output: str, length: int) -> None:
    """In a container of exactly that: reading the parts back, and shards that are made in memory, are counted in."""
    out = tmp_path / "out"
    args = ["pack", str(documents), "-o", f"{out}/", "--length", str(length), *(["--npy"] if output == "npy" else ["--to", "mds"])]
    refused = run(*args, "--memory", "40MiB")
    number = re.search(r"--memory 40MiB is too small: .*; try --memory (\d+)MiB", refused.err)
    assert refused.code == 3 and number, refused.err
    limit = int(number[1]) * MIB
    assert limit < 128 * MIB
    holds(args, limit, documents)
    run("verify", out).done()
    ids = np.load(out / "input_ids.npy") if output == "npy" else matrix(table(out, "--columns", "input_ids"), "input_ids")
    assert ids.shape[1] == length and (np.bincount(ids.ravel())[1:] == lengths()[1:]).all()  # 0 is what rows are filled up with


@pytest.fixture
def service(tmp_path: Path) -> Iterator[tuple[s3.Service, Path]]:
    program = s3.program()
    if program is None:
        pytest.skip("the S3 service is built with Go, which is not here")
    with s3.service(program, tmp_path / "s3", "tests") as running:
        yield running, tmp_path / "s3" / "tests"


@pytest.mark.parametrize("output", OUTPUTS)
def test_s3_gets_the_same_bytes(folder: Path, tmp_path: Path, service: tuple[s3.Service, Path], output: str) -> None:
    running, stored = service
    run(*pack(folder, tmp_path / "out", *OUTPUTS[output])).done()
    run(*pack(folder, "s3://tests/out", *OUTPUTS[output]), env=running.env()).done()
    run("verify", "s3://tests/out/", env=running.env()).done()
    files = [path.relative_to(tmp_path / "out") for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert len(files) > 4
    for path in files:
        if path.name == "manifest.json":
            continue  # which has the recipe, and in it the place
        assert (stored / "out" / path).read_bytes() == (tmp_path / "out" / path).read_bytes(), path


def test_what_cannot_be_is_refused(folder: Path, tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": pa.array([1, 2, None, 4])}), tmp_path / "null.parquet")
    for args, code, text in (
        (shuffle(folder, tmp_path / "out", "--npy", "--columns", "input_ids,cu_seqlens"), 2, 'npy: column "cu_seqlens" is list<'),
        (pack(folder, tmp_path / "out", "--npy", "--to", "mds"), 2, "with --to mds leave --npy out"),
        (pack(folder, tmp_path / "out", "--to", "mds", "--codec", "lz4"), 2, 'mds: compression "lz4" is not one of'),
        (["shuffle", str(tmp_path / "null.parquet"), "-o", f"{tmp_path / 'out'}/", "--npy"], 4, 'npy: row 2: column "x" is null'),
    ):
        refused = run(*args)
        assert refused.code == code and text in refused.err, refused.err
        assert not [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
