"""Looks for texts that weir.Tokenizer and the `tokenizers` library take differently: `python tokenizer_fuzz.py --seconds 300 [NAME ...]`.

Texts are mutations of others: of hard ones, of what a tokenizer's own tokens say, and of gsm8k where WEIR_CORPUS names it. A mismatch is
shrunk and printed, and the exit status is 1. Half of the time goes to tokenizers that are mixed from parts, unless some are named.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import tempfile
import time
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import tokenizers

import tokenizer_files
import tokenizer_mixtures
import tokenizer_vocabularies
from loading import weir
from tokenizer_texts import block, broken, hard, phrase, run

BATCH = 200  # texts that are compared at once
MIXED = 400  # texts that are compared with one mixture
POOL = 2000  # texts that mutations start from
SHORT = 400  # characters, of most texts
LONG = 30_000  # of the few that grow; not with mixtures, whose regular expressions may take the cube of a text's length
SHRINKING = 1500  # attempts to make a text smaller
MARKS = ["\u0301", "\u0323", "\u0334", "\u0345", "\u093c", "\u3099", "\u200d", "\ufe0f", "\u20e3", "\U0001f3fd", "\u05b0", "\u1161"]
BLANKS = [" ", "\n", "\t", "\r", "\u00a0", "\u3000", "\u2028", "\u0085", "\x1c", "\u200b", "\u2581"]

Items = TypeVar("Items", bound=Sequence[Any])


def files(names: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Tokenizers and their tokenizer.json: the small ones of the Go tests, and the real ones that can be had."""
    for name, said in tokenizer_mixtures.models().items():
        if not names or name in names:
            yield name, json.dumps(said).encode()
    for name in [*tokenizer_vocabularies.SOURCES, *tokenizer_files.PACKAGES]:
        if (not names or name in names) and (where := installed(name)):
            yield name, (where / "tokenizer.json").read_bytes()


def installed(name: str) -> Path | None:
    return (tokenizer_vocabularies if name in tokenizer_vocabularies.SOURCES else tokenizer_files).installed(name)


def corpus() -> list[str]:
    """Some texts of gsm8k."""
    where = os.environ.get("WEIR_CORPUS")
    path = Path(where, "gsm8k", "train.jsonl") if where else None
    if path is None or not path.exists():
        return []
    with path.open() as lines:
        return [json.loads(line)["question"] for line in itertools.islice(lines, 200)]


class Texts:
    """An endless supply of texts for one tokenizer."""

    def __init__(self, rng: random.Random, library: tokenizers.Tokenizer, longest: int) -> None:
        self.rng = rng
        self.library = library
        self.longest = longest
        self.size = library.get_vocab_size()
        self.special = [t.content for t in library.get_added_tokens_decoder().values()] or ["<s>"]
        self.pool = [t.decode("utf-8", "replace") for t in hard(200, self.special)] + corpus()
        self.changes: list[Callable[[str], str]] = [
            *(self.splice, self.insert_special, self.insert_tokens) * 2,
            *(self.drop, self.repeat, self.insert_part, self.insert_marks, self.insert_blanks, self.insert_character),
            *(self.step, self.swap_case, self.reform, self.shuffle),
        ]

    def next(self) -> bytes:
        rng = self.rng
        text = rng.choice(self.pool) if rng.random() < 0.8 else self.fresh()
        for _ in range(rng.randint(1, 5)):
            text = rng.choice(self.changes)(text)
        text = text[: self.longest if rng.random() < 0.01 else SHORT]
        if rng.random() < 0.1:
            self.pool[rng.randrange(len(self.pool))] = text
            if len(self.pool) < POOL:
                self.pool.append(self.fresh())
        data = text.encode()
        return self.damage(data) if rng.random() < 0.1 else data

    def fresh(self) -> str:
        rng = self.rng
        kind = rng.randrange(4)
        if kind == 0:
            return phrase(rng, self.special)
        if kind == 1:
            return block(rng)
        return run(rng)[:200] if kind == 2 else self.tokens()

    def ids(self) -> list[int]:
        """Any ids, some of which are no tokens."""
        return [self.rng.randrange(self.size + 3) for _ in range(self.rng.randint(1, 12))]

    def tokens(self) -> str:
        """What tokens say: words that are nearly those of the vocabulary are hard to merge."""
        ids = self.ids()
        if self.rng.random() < 0.5:
            decoded = answers(lambda some: self.library.decode_batch(some, skip_special_tokens=False), [ids])[0]
            return decoded if isinstance(decoded, str) else ""
        return "".join(self.library.id_to_token(i) or "" for i in ids)

    def place(self, text: str) -> int:
        return self.rng.randint(0, len(text))

    def cut(self, text: str) -> tuple[int, int]:
        """A stretch, mostly a short one."""
        at = self.place(text)
        return at, min(len(text), at + self.rng.choice([1, 2, 3, 8, 40]))

    def inserted(self, text: str, what: str) -> str:
        at = self.place(text)
        return text[:at] + what + text[at:]

    def splice(self, text: str) -> str:
        other = self.rng.choice(self.pool)
        start, end = self.cut(text)
        at = self.place(other)
        return text[:start] + other[at : at + self.rng.choice([2, 8, 40, 400])] + text[end:]

    def drop(self, text: str) -> str:
        start, end = self.cut(text)
        return text[:start] + text[end:]

    def repeat(self, text: str) -> str:
        start, end = self.cut(text)
        return text[:start] + text[start:end] * self.rng.choice([2, 3, 4, 7, 16, 33, 300, 3000]) + text[end:]

    def insert_special(self, text: str) -> str:
        around = self.rng.choice(["", "", " ", "\n", "a", "  "])
        return self.inserted(text, around + self.rng.choice(self.special) + self.rng.choice(["", around]))

    def insert_part(self, text: str) -> str:
        """Half a special token, or two that overlap."""
        one, other = self.rng.choices(self.special, k=2)
        return self.inserted(text, one[: self.place(one)] + other[self.place(other) :])

    def insert_marks(self, text: str) -> str:
        return self.inserted(text, "".join(self.rng.choices(MARKS, k=self.rng.choice([1, 1, 2, 5]))))

    def insert_blanks(self, text: str) -> str:
        return self.inserted(text, "".join(self.rng.choices(BLANKS, k=self.rng.choice([1, 2, 3]))) * self.rng.choice([1, 1, 2, 9]))

    def insert_character(self, text: str) -> str:
        c = self.rng.choice([self.rng.randrange(0x300), self.rng.randrange(0xD800), self.rng.randrange(0xE000, 0x110000)])
        return self.inserted(text, chr(c))

    def insert_tokens(self, text: str) -> str:
        return self.inserted(text, self.tokens())

    def step(self, text: str) -> str:
        """The neighbour of a character."""
        if not text:
            return text
        at = self.rng.randrange(len(text))
        c = max(0, min(0x10FFFF, ord(text[at]) + self.rng.choice([-32, -1, 1, 2, 32])))
        return text if 0xD800 <= c < 0xE000 else text[:at] + chr(c) + text[at + 1 :]

    def swap_case(self, text: str) -> str:
        start, end = self.cut(text)
        return text[:start] + text[start:end].swapcase() + text[end:]

    def reform(self, text: str) -> str:
        return unicodedata.normalize(self.rng.choice(["NFC", "NFD", "NFKC", "NFKD"]), text[:LONG])

    def shuffle(self, text: str) -> str:
        words = text[:LONG].split(" ")
        self.rng.shuffle(words)
        return " ".join(words)

    def damage(self, data: bytes) -> bytes:
        """Bytes that are no characters."""
        at = self.rng.randint(0, len(data))
        kind = self.rng.randrange(4)
        if kind == 0:
            return data[:at] + data[at + 1 :]
        if kind == 1:
            return data[:at]
        if kind == 2:
            return data[:at] + self.rng.randbytes(self.rng.randint(1, 4)) + data[at:]
        return data[:at] + broken(self.rng, self.special) + data[at:]


class Pair:
    """One tokenizer.json, loaded twice."""

    def __init__(self, name: str, data: bytes, folder: Path) -> None:
        self.name = name
        path = folder / f"{name}.json"
        path.write_bytes(data)
        self.library = tokenizers.Tokenizer.from_str(data.decode())
        self.weir = weir.Tokenizer.from_file(path)

    def encoded(self, texts: list[bytes], special: bool) -> tuple[list[Any], list[Any]]:
        """The ids of weir, which is given the very bytes, and of the library."""

        def mine(some: list[bytes]) -> list[Any]:
            return self.weir.encode_arrow(pa.array(some, pa.large_binary()).view(pa.large_string()), special).to_pylist()

        def theirs(some: list[bytes]) -> list[Any]:
            given = [t.decode("utf-8", "replace") for t in some]
            return [e.ids for e in self.library.encode_batch_fast(given, add_special_tokens=special)]

        return answers(mine, texts), answers(theirs, texts)

    def decoded(self, ids: list[list[int]], skip: bool) -> tuple[list[Any], list[Any]]:
        def mine(some: list[list[int]]) -> list[Any]:
            return self.weir.decode_batch(some, skip)

        def theirs(some: list[list[int]]) -> list[Any]:
            return self.library.decode_batch(some, skip_special_tokens=skip)

        return answers(mine, ids), answers(theirs, ids)

    def mismatch(self, texts: list[bytes], ids: list[list[int]], special: bool) -> str:
        """What the two do not agree on, in the smallest form that is found; nothing, if they agree."""
        mine, theirs = self.encoded(texts, special)
        for text, one, other in zip(texts, mine, theirs, strict=True):
            if differ(one, other):
                return self.shrunk_text(text, special)
        ids = [*ids, *(some for some in theirs if isinstance(some, list))]
        for sequence, one, other in zip(ids, *self.decoded(ids, special), strict=True):
            if differ(one, other):
                return self.shrunk_ids(sequence, special)
        return ""

    def shrunk_text(self, text: bytes, special: bool) -> str:
        def pair(some: Any) -> tuple[Any, Any]:
            mine, theirs = self.encoded([some.encode() if isinstance(some, str) else some], special)
            return mine[0], theirs[0]

        try:
            small: Any = shrunk(text.decode(), lambda some: differ(*pair(some)))
        except UnicodeDecodeError:
            small = shrunk(text, lambda some: differ(*pair(some)))
        mine, theirs = pair(small)
        return f"{self.name}: add_special_tokens={special}: {small!a}\n  weir       {mine}\n  tokenizers {theirs}"

    def shrunk_ids(self, ids: list[int], skip: bool) -> str:
        def pair(some: list[int]) -> tuple[Any, Any]:
            mine, theirs = self.decoded([some], skip)
            return mine[0], theirs[0]

        small = shrunk(ids, lambda some: differ(*pair(some)))
        mine, theirs = pair(small)
        tokens = [self.library.id_to_token(i) for i in small]
        return f"{self.name}: skip_special_tokens={skip}: {small} {tokens}\n  weir       {mine!a}\n  tokenizers {theirs!a}"


def answers(ask: Callable[[list[Any]], list[Any]], items: list[Any]) -> list[Any]:
    """The answer to each item; where there is none, the error."""
    try:
        return ask(items)
    except BaseException as e:  # the library's panics are no Exception
        if isinstance(e, (KeyboardInterrupt, SystemExit)):
            raise
        half = len(items) // 2
        return answers(ask, items[:half]) + answers(ask, items[half:]) if half else [e]


def differ(mine: Any, theirs: Any) -> bool:
    """Where the library fails, as some of its parts do on some texts, anything will do."""
    return not isinstance(theirs, BaseException) and mine != theirs


def shrunk(items: Items, differs: Callable[[Items], bool]) -> Items:
    """A part of items that differs still, from which nothing can be left out."""
    attempts, size = 0, max(1, len(items) // 2)
    while size and attempts < SHRINKING:
        at, smaller = 0, False
        while at < len(items) and attempts < SHRINKING:
            attempts += 1
            rest: Any = items[:at] + items[at + size :]
            if differs(rest):
                items, smaller = rest, True
            else:
                at += size
        size = size if smaller and size == 1 else size // 2
    return items


def fuzzed(pair: Pair, seed: int, longest: int, more: Callable[[int], bool]) -> tuple[int, str]:
    """How many texts were compared, and the first mismatch; it goes on while more(texts) says so."""
    rng = random.Random(f"{pair.name} {seed}")
    texts = Texts(rng, pair.library, longest)
    done = 0
    while more(done):
        batch = [texts.next() for _ in range(BATCH)]
        found = pair.mismatch(batch, [texts.ids() for _ in range(BATCH // 4)], rng.random() < 0.5)
        done += BATCH
        if found:
            return done, found
    return done, ""


class Session:
    """One run over many tokenizers."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.seed = seed
        self.folder = folder
        self.texts = self.refused = 0
        self.found: list[str] = []
        self.mixer = tokenizer_mixtures.Mixer(seed)

    def fuzz(self, pair: Pair, more: Callable[[int], bool], parts: str = "") -> int:
        """How many texts were compared."""
        with pair.weir:
            done, found = fuzzed(pair, self.seed, SHORT if parts else LONG, more)
        self.texts += done
        if found:
            self.found.append(found + parts)
            print(f"MISMATCH {self.found[-1]}", flush=True)
        return done

    def file(self, name: str, data: bytes, end: float) -> None:
        done = self.fuzz(Pair(name, data, self.folder), lambda done: done == 0 or time.monotonic() < end)
        print(f"{name}: {done} texts", flush=True)

    def mixture(self, number: int) -> None:
        """The next mixture; weir or the library may refuse it."""
        said = self.mixer.next()
        (pair,) = answers(lambda some: [Pair(f"mixture-{number}", some[0], self.folder)], [json.dumps(said).encode()])
        if isinstance(pair, BaseException):
            self.refused += 1
            return
        parts = json.dumps({part: value for part, value in said.items() if part != "model"})
        self.fuzz(pair, lambda done: done < MIXED, f"\n  of {parts}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--seconds", type=float, default=60, help="for all tokenizers together")
    parser.add_argument("--seed", type=int, default=time.time_ns())
    given = parser.parse_args()
    os.environ["RUST_BACKTRACE"] = "0"  # the library's panics are none of ours
    several = list(files(given.names))
    print(f"seed {given.seed}, {len(several)} tokenizers", flush=True)
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        session = Session(given.seed, Path(folder))
        mixtures = 0
        while not given.names and time.monotonic() < start + given.seconds / 2:
            mixtures += 1
            session.mixture(mixtures)
        if mixtures:
            print(f"{mixtures} mixtures, of which {session.refused} are refused by weir or by the library", flush=True)
        for left, (name, data) in zip(range(len(several), 0, -1), several, strict=True):
            now = time.monotonic()
            session.file(name, data, now + (start + given.seconds - now) / left)
    print(f"{session.texts} texts, {len(session.found)} tokenizers with a mismatch")
    raise SystemExit(1 if session.found else 0)


if __name__ == "__main__":
    main()
