"""kill -9 at any moment of each pass over a corpus, on disk and on S3: the same command ends in the same bytes, nothing is left."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

import s3
from binary import command, weir
from finetune import conversations, recipe, small_tokenizer, write_lines
from prepared import tree

PASSES = ("dedup", "tokenize", "pack", "shuffle", "run")
KILLS = {"disk": 36, "s3": 16}  # of each pass
AGAIN = 5  # kills of one run, before it is let to its end
THREADS = (1, 2, 8)
FINISHED = "holds a finished dataset"

WORDS = ["the", "and", "in", "on", "there", "thing", "under", "über", "string", "answer", "1", "22", "+", "=", "trees", "松", "again"]


def corpus(count: int) -> list[dict[str, str]]:
    rng = random.Random(3)
    return [{"question": " ".join(rng.choices(WORDS, k=rng.randint(4, 40))), "answer": " ".join(rng.choices(WORDS, k=rng.randint(1, 60)))}
            for _ in range(count)]  # fmt: skip


@dataclass
class Sources:
    """What each pass reads."""

    folder: Path
    tokenizer: Path

    def arguments(self, name: str, out: str, threads: int) -> list[str]:
        """The command of a pass; its parts are small, so that there are several."""
        if name == "run":
            file = self.folder / "finetune.yaml"
            sizes = {"part_size": "1MiB", "row_group": "1MiB"}
            file.write_text(recipe(self.folder / "chats.jsonl", out, self.tokenizer, length=256, threads=threads, write=sizes))
            return ["run", str(file), "--quiet"]
        source, rules = {
            "dedup": ("chats.jsonl", ["--by", "messages"]),
            "tokenize": ("chats.jsonl", ["--tokenizer", str(self.tokenizer), "--chat", "messages", "--keep", "id"]),
            "pack": ("tokens", ["--length", "256"]),
            "shuffle": ("tokens", ["--seed", "3"]),
        }[name]
        sizes = ["--memory", "192MiB", "--part-size", "1MiB", "--row-group", "1MiB"]
        return [name, str(self.folder / source), "-o", f"{out}/", *rules, *sizes, "--threads", str(threads), "--quiet"]


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Sources:
    folder = tmp_path_factory.mktemp("sources")
    made = Sources(folder, small_tokenizer(folder / "tokenizer"))
    write_lines(folder / "chats.jsonl", conversations(corpus(12_000)))
    weir(*made.arguments("tokenize", str(folder / "tokens"), 2)).done()
    return made


@dataclass
class Ground:
    """Where datasets are written, and how all that lies there is seen."""

    url: str
    folder: Path
    scratch: Path  # where scratch files of an output that is not on disk go
    service: s3.Service | None = None

    def env(self) -> dict[str, str]:
        return (self.service.env() if self.service else {}) | {"TMPDIR": str(self.scratch)}

    def take(self) -> dict[str, str]:
        """All that lies there, scratch files and uploads that nobody ended too; it is taken away."""
        found = tree(self.folder) | {f"scratch/{name}": digest for name, digest in tree(self.scratch).items()}
        for path in [*self.folder.iterdir(), *self.scratch.iterdir()]:
            shutil.rmtree(path)
        if self.service is None:
            return found
        # On S3 there are no directories.
        return {path: digest for path, digest in found.items() if not path.endswith("/")} | dict.fromkeys(self.service.uploads(), "upload")


@dataclass
class Hunt:
    """A pass that is killed until there were kills enough."""

    ground: Ground
    arguments: Callable[[int], list[str]]  # by threads
    draw: random.Random
    kills: int = 0

    def run(self, at: float) -> bool:
        """Kills a run at a moment; false: it had come to its end before."""
        args = command(*self.arguments(self.draw.choice(THREADS)))
        env = os.environ | self.ground.env()
        with subprocess.Popen(args, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=env) as process:
            with suppress(subprocess.TimeoutExpired):
                process.wait(at)
            process.send_signal(signal.SIGKILL)
            _, err = process.communicate()
            code = process.returncode
        assert code in (0, -signal.SIGKILL) or FINISHED in err.decode(), f"exit {code}: {err.decode()}"
        self.kills += code == -signal.SIGKILL
        return code == -signal.SIGKILL

    def whole(self, threads: int) -> tuple[dict[str, str], float]:
        """Lets the pass come to its end: all that lies there then, which is taken away, and how long it took."""
        start = time.monotonic()
        result = weir(*self.arguments(threads), env=self.ground.env())
        took = time.monotonic() - start
        assert result.code == 0 or (result.code == 2 and FINISHED in result.err), result.err
        return self.ground.take(), took

    def go(self, enough: int) -> None:
        want, took = self.whole(2)
        parts = [path for path in want if path.endswith(".parquet")]
        assert len(parts) > 1, f"one part is no trial: {sorted(want)}"
        names = {path.removeprefix("out/") for path in want}
        assert names - {"", "data/"} == {"manifest.json", *(f"data/{Path(path).name}" for path in parts)}
        while self.kills < enough:
            at = self.draw.random() * took * 1.2  # runs are not all as quick
            if not self.run(at):
                took = min(took, at)
            else:
                for _ in range(self.draw.randrange(AGAIN)):
                    if not self.run(self.draw.random() * took):
                        break
            got, _ = self.whole(self.draw.choice(THREADS))
            assert got == want, f"after {self.kills} kills: {sorted(set(got.items()) ^ set(want.items()))}"


@pytest.fixture
def memory() -> Iterator[Path]:
    """A directory in memory where there is one: hundreds of runs sync all they write, which is not what is tested."""
    with tempfile.TemporaryDirectory(prefix="weir-test-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        for name in ("disk", "scratch"):
            (Path(folder) / name).mkdir()
        yield Path(folder)


def hunt(ground: Ground, sources: Sources, name: str, kills: int) -> None:
    """A hunt whose moments are its own: of a pass and of where it writes."""
    draw = random.Random(f"{name} {kills}")
    Hunt(ground, lambda threads: sources.arguments(name, f"{ground.url}/out", threads), draw).go(kills)


@pytest.mark.parametrize("name", PASSES)
def test_kills_on_disk(sources: Sources, memory: Path, name: str) -> None:
    hunt(Ground(str(memory / "disk"), memory / "disk", memory / "scratch"), sources, name, KILLS["disk"])


@pytest.fixture
def remote(memory: Path) -> Iterator[Ground]:
    program = s3.program()
    if program is None:
        pytest.skip("the S3 service is built with Go, which is not here")
    with s3.service(program, memory / "s3", "tests") as running:
        yield Ground("s3://tests", memory / "s3" / "tests", memory / "scratch", running)


@pytest.mark.parametrize("name", PASSES)
def test_kills_on_s3(sources: Sources, remote: Ground, name: str) -> None:
    hunt(remote, sources, name, KILLS["s3"])
