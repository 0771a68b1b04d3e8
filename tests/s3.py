"""A local S3 service for the time of a test run: versitygw, pinned as a tool of the repository."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pyarrow import fs

TOOL = "github.com/versity/versitygw/cmd/versitygw"
REPOSITORY = Path(__file__).resolve().parent.parent
ACCESS, SECRET, REGION = "weir", "weir-test-secret", "us-east-1"


@dataclass(frozen=True)
class Service:
    """A running service with one bucket."""

    address: str
    bucket: str

    def env(self) -> dict[str, str]:
        """What weir must find in its environment."""
        return credentials(f"http://{self.address}")

    def put(self, source: Path, key: str) -> None:
        """Uploads a file, or a directory with what is in it."""
        where = {"endpoint_override": self.address, "scheme": "http", "region": REGION}
        remote = fs.S3FileSystem(access_key=ACCESS, secret_key=SECRET, allow_delayed_open=True, **where)
        for file in sorted(source.rglob("*")) if source.is_dir() else [source]:
            name = f"{self.bucket}/{key}" + (f"/{file.relative_to(source)}" if file != source else "")
            for left in (2, 1, 0):  # on a busy machine the service now and then cannot parse a request, and answers 400
                try:
                    with remote.open_output_stream(name) as out:
                        out.write(file.read_bytes())
                    break
                except OSError:
                    if not left:
                        raise

    def keys(self, prefix: str) -> list[str]:
        """The keys of all objects below a prefix."""
        query = f"list-type=2&prefix={urllib.parse.quote(prefix, safe='')}"
        with urllib.request.urlopen(signed("GET", self.address, f"/{self.bucket}", query), timeout=10) as answer:
            return re.findall(r"<Key>(.*?)</Key>", answer.read().decode())

    def uploads(self) -> list[str]:
        """The keys of uploads that were begun and not ended; pyarrow has no way to ask."""
        with urllib.request.urlopen(signed("GET", self.address, f"/{self.bucket}", "uploads="), timeout=10) as answer:
            return re.findall(r"<Upload>.*?<Key>(.*?)</Key>", answer.read().decode(), re.DOTALL)


def signed(method: str, host: str, path: str, query: str) -> urllib.request.Request:
    """A request without a body, with the signature that S3 wants."""
    now = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    headers = {"host": host, "x-amz-content-sha256": hashlib.sha256(b"").hexdigest(), "x-amz-date": now}
    names = ";".join(headers)
    canonical = "\n".join([method, path, query, *(f"{k}:{v}" for k, v in headers.items()), "", names, headers["x-amz-content-sha256"]])
    scope = f"{now[:8]}/{REGION}/s3/aws4_request"
    key = f"AWS4{SECRET}".encode()
    for word in [*scope.split("/"), "\n".join(["AWS4-HMAC-SHA256", now, scope, hashlib.sha256(canonical.encode()).hexdigest()])]:
        key = hmac.new(key, word.encode(), "sha256").digest()
    headers["authorization"] = f"AWS4-HMAC-SHA256 Credential={ACCESS}/{scope}, SignedHeaders={names}, Signature={key.hex()}"
    return urllib.request.Request(f"http://{host}{path}?{query}", headers=headers, method=method)


def credentials(endpoint: str) -> dict[str, str]:
    """An environment that speaks to the endpoint and nothing else."""
    nowhere = {"AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull, "AWS_SESSION_TOKEN": "", "AWS_PROFILE": ""}
    keys = {"AWS_ACCESS_KEY_ID": ACCESS, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_REGION": REGION}
    return nowhere | keys | {"AWS_ENDPOINT_URL": endpoint, "AWS_ENDPOINT_URL_S3": ""}


@cache
def program() -> str | None:
    """The service's binary, built where it has yet to be, which takes minutes; None without Go."""
    if not shutil.which("go"):
        return None
    env = os.environ | {"CGO_ENABLED": "0", "GOEXPERIMENT": ""}
    ask = ["go", "tool", "-modfile=tools/go.mod", "-n", TOOL]
    return subprocess.run(ask, cwd=REPOSITORY, env=env, capture_output=True, text=True, check=True).stdout.strip()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def healthy(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"http://{address}/health", timeout=1) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


@contextmanager
def service(binary: str, folder: Path, bucket: str) -> Iterator[Service]:
    """A service over the folder, which has the bucket in it."""
    (folder / bucket).mkdir(parents=True)
    address = f"127.0.0.1:{free_port()}"
    options = ["--port", address, "--access", ACCESS, "--secret", SECRET, "--region", REGION]
    options += ["--quiet", "--keep-alive", "--health", "/health"]
    with subprocess.Popen([binary, *options, "posix", str(folder)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            end = time.monotonic() + 20
            while not healthy(address):
                assert process.poll() is None and time.monotonic() < end, "the S3 service does not start"
                time.sleep(0.05)
            yield Service(address, bucket)
        finally:
            process.terminate()
