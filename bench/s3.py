"""weir from a local S3 server against weir from disk: versitygw, pinned as a tool of the repository, serves a copy of the dataset."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import environment
import measure
from datasets import Dataset, cache
from programs import HERE, WEIR, Job, Settings
from speed import Entry, interleave, warm

SERVER = "github.com/versity/versitygw/cmd/versitygw"
BUCKET = "bench"
KEYS = {"AWS_ACCESS_KEY_ID": "weir-bench", "AWS_SECRET_ACCESS_KEY": "weir-bench-secret", "AWS_REGION": "us-east-1"}

UPLOAD = """
import sys
from pyarrow import fs
endpoint, bucket, *folders = sys.argv[1:]
s3 = fs.S3FileSystem(endpoint_override=endpoint, scheme="http", allow_bucket_creation=True)
s3.create_dir(bucket)
for folder in folders:
    fs.copy_files(folder, f"{bucket}/{folder.rsplit('/', 1)[1]}", destination_filesystem=s3)
"""


def binary() -> str | None:
    """The server's binary, built by the go command where it has yet to be, or None without Go."""
    if not shutil.which("go"):
        return None
    print("building the S3 server (minutes, once)", file=sys.stderr, flush=True)
    command = ["go", "tool", "-modfile=tools/go.mod", "-n", SERVER]
    done = subprocess.run(command, cwd=HERE.parent, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def healthy(endpoint: str) -> bool:
    try:
        with urllib.request.urlopen(f"http://{endpoint}/health", timeout=1) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


@contextmanager
def server(program: str, folder: Path) -> Iterator[str]:
    """A server for the time of the block, on the cores that the measured program does not use; yields host and port."""
    endpoint = f"127.0.0.1:{free_port()}"
    command = [program, "--port", endpoint, "--access", KEYS["AWS_ACCESS_KEY_ID"], "--secret", KEYS["AWS_SECRET_ACCESS_KEY"]]
    command += ["--region", KEYS["AWS_REGION"], "--quiet", "--keep-alive", "--health", "/health", "posix", str(folder)]
    others = [core for core in measure.cores_for(0) if core not in measure.cores_for(1)]
    process = subprocess.Popen(measure.pinned(command, others), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            if healthy(endpoint):
                break
            time.sleep(0.1)
        yield endpoint
    finally:
        process.terminate()
        process.wait()


def compare(data: list[Dataset], rounds: int, settings: Settings) -> list[tuple[Entry, Entry]] | None:
    """Pairs of weir from S3 and weir from disk, one thread, interleaved; None where no server can be had."""
    program = binary()
    if not program:
        return None
    folder = cache() / f"bench-s3-{os.getpid()}"
    folder.mkdir(parents=True)
    try:
        with server(program, folder) as endpoint:
            upload = [str(environment.python()), "-c", UPLOAD, endpoint, BUCKET, *(str(each.path) for each in data)]
            subprocess.run(upload, check=True, env=os.environ | KEYS)
            env = tuple((KEYS | {"AWS_ENDPOINT_URL": f"http://{endpoint}"}).items())
            pairs = []
            for each in data:
                warm(each)
                remote = Job(WEIR, each, 1, source=f"s3://{BUCKET}/{each.name}/", env=env)
                first, second = interleave([remote, Job(WEIR, each, 1)], rounds, settings)
                pairs.append((first, second))
            return pairs
    finally:
        shutil.rmtree(folder)
