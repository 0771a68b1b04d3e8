"""The Tokenizer in memory: against the tokenizers library where that is installed, and what becomes of its process."""

from __future__ import annotations

import gc
import os
import pickle
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import tokenizer_files
from binary import BINARY
from processes import gone

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))
os.environ.setdefault("WEIR_BIN", str(BINARY))

import weir  # noqa: E402

WORDS = "the of and Hello WORLD naïve 人工智能 👩‍👩‍👧‍👦 12345 don't\n\t  <|endoftext|> é \0".split(" ")  # noqa: SIM905


def phrases(rng: random.Random, count: int) -> list[str]:
    return [" ".join(rng.choices(WORDS, k=rng.randint(0, 40))) for _ in range(count)]


@pytest.fixture(scope="module")
def tokenizer_file() -> Path:
    found = tokenizer_files.installed("llama3")
    if found is None:
        pytest.skip("no tokenizer.json is installed; tests/tokenizer_files.py installs some")
    return found / "tokenizer.json"


@pytest.fixture
def tok(tokenizer_file: Path) -> Iterator[weir.Tokenizer]:
    with weir.Tokenizer.from_file(tokenizer_file) as made:
        yield made


def test_batches_columns_and_single_texts_have_the_same_ids(tok: weir.Tokenizer) -> None:
    some = phrases(random.Random(9), 3_000)
    ids = tok.encode_batch(some)
    assert [tok.encode(text) for text in some[:20]] == ids[:20]
    assert tok.encode_arrow(pa.array(some)).to_pylist() == ids
    column = pa.chunked_array([some[:7], [None], some[7:]], pa.string())
    assert tok.encode_arrow(column).to_pylist() == [*ids[:7], None, *ids[7:]]
    assert tok.encode_arrow(pa.array(some)).type == pa.list_(pa.int32())
    assert tok.encode_batch([]) == [] and tok.encode_arrow(pa.array([], pa.string())).to_pylist() == []
    plain = tok.encode_batch(some, add_special_tokens=False)
    assert tok.decode_batch(plain, skip_special_tokens=False) == some
    assert tok.decode([]) == "" and tok.token_to_id("no such token") is None and tok.get_vocab_size() > 1000


def test_ids_are_those_of_the_library(tok: weir.Tokenizer, tokenizer_file: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="the tokenizers library, with which ids are compared, is not installed")
    theirs = tokenizers.Tokenizer.from_file(str(tokenizer_file))
    some = phrases(random.Random(10), 2_000)
    for special in (True, False):
        ids = [e.ids for e in theirs.encode_batch(some, add_special_tokens=special)]
        assert tok.encode_batch(some, add_special_tokens=special) == ids
        assert tok.decode_batch(ids) == theirs.decode_batch(ids)
    assert tok.token_to_id("the") == theirs.token_to_id("the")


def test_what_is_no_text_is_refused_and_the_tokenizer_goes_on(tok: weir.Tokenizer) -> None:
    with pytest.raises(TypeError, match="text 1 is int"):
        tok.encode_batch(["a", 1])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="list of texts"):
        tok.encode_batch("abc")
    with pytest.raises((ValueError, TypeError, OverflowError)):
        tok.decode([-1])
    assert tok.decode(tok.encode("abc", False)) == "abc"


def test_a_file_that_is_none_is_an_exception_that_says_so(tmp_path: Path) -> None:
    with pytest.raises(weir.MissingError):
        weir.Tokenizer.from_file(tmp_path / "none.json")
    (tmp_path / "bad.json").write_text('{"model": {}')
    with pytest.raises(weir.Error, match=r"bad\.json"):
        weir.Tokenizer.from_file(tmp_path / "bad.json")


def test_threads_take_turns(tok: weir.Tokenizer) -> None:
    some = phrases(random.Random(11), 200)
    want = tok.encode_batch(some)
    wrong: list[int] = []

    def work(i: int) -> None:
        for _ in range(5):
            if tok.encode_batch(some[i:]) != want[i:]:
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def child(tok: weir.Tokenizer) -> int:
    assert tok._caller is not None
    return tok._caller._process.pid


def test_a_forked_process_has_a_child_of_its_own(tok: weir.Tokenizer) -> None:
    want, mine = tok.encode("Hello"), child(tok)
    pid = os.fork()
    if pid == 0:
        os._exit(0 if tok.encode("Hello") == want and child(tok) != mine else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert tok.encode("Hello") == want and child(tok) == mine
    copied = pickle.loads(pickle.dumps(tok))
    assert copied.encode("Hello") == want and child(copied) != mine


def test_the_child_ends_with_the_object(tokenizer_file: Path) -> None:
    tok = weir.Tokenizer.from_file(tokenizer_file)
    pid = child(tok)
    del tok
    gc.collect()
    assert gone(pid)


def test_a_killed_child_is_told_of_and_replaced(tok: weir.Tokenizer) -> None:
    want = tok.encode("Hello")
    os.kill(child(tok), signal.SIGKILL)
    with pytest.raises(weir.Error, match="killed by SIGKILL"):
        tok.encode("Hello")
    assert tok.encode("Hello") == want


def script(tokenizer: Path, text: str) -> subprocess.Popen[str]:
    head = f"import sys, os, signal; sys.path.insert(0, {str(ROOT / 'python')!r})\nimport weir\n"
    head += f"tok = weir.Tokenizer.from_file({str(tokenizer)!r})\n"
    return subprocess.Popen([sys.executable, "-c", head + textwrap.dedent(text)], stdout=subprocess.PIPE, text=True)


def test_the_child_dies_with_a_killed_parent_though_a_fork_lives_on(tokenizer_file: Path) -> None:
    run = script(tokenizer_file, """
        fork = os.fork()
        if fork == 0:
            signal.pause()
        print(tok._caller._process.pid, fork, flush=True)
        signal.pause()
    """)  # fmt: skip
    assert run.stdout is not None
    pid, fork = map(int, run.stdout.readline().split())
    run.kill()
    run.wait()
    try:
        assert gone(pid)
    finally:
        os.kill(fork, signal.SIGKILL)


def test_an_interrupt_ends_the_call_and_leaves_the_tokenizer_usable(tokenizer_file: Path) -> None:
    run = script(tokenizer_file, """
        print("ready", flush=True)
        texts = ["some words of text, and more of them %d" % i for i in range(400_000)]
        try:
            while True:
                tok.encode_batch(texts)
        except KeyboardInterrupt:
            print(tok.encode("Hello", False) == tok.encode_batch(["Hello"], False)[0], flush=True)
    """)  # fmt: skip
    assert run.stdout is not None and run.stdout.readline() == "ready\n"
    time.sleep(1.5)
    run.send_signal(signal.SIGINT)
    assert run.communicate(timeout=60)[0] == "True\n" and run.returncode == 0
