"""Tokenizers put together at random: models of the Go tests, with normalizers, splitters and decoders that no one would combine."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

TESTDATA = Path(__file__).resolve().parent.parent / "internal" / "tokenizer"
BEHAVIORS = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
SCHEMES = ["always", "first", "never"]
STRINGS = [" ", "a", "th", "\n", "\u2581", "e\u0301", "  ", "\u4e16"]
ATOMS = [
    *(r"\p{L}+", r"\p{N}{1,3}", r"\p{Lu}", r"\p{Ll}+", r"\p{M}", r"\p{P}", r"\p{S}+", r"\p{Han}+", r"[^\s\p{L}\p{N}]+", r"[^\r\n\p{L}]?"),
    *(r"\s+", r"\s*[\r\n]+", r"\s+(?!\S)", r"\S+", r"\s", r"\w+", r"\W", r"\d", r"\D+", r"\b", r" ?", r" {2,}", r"."),
    *(r"(?i:'s|'t|'re|'ve|'m|'ll|'d)", r"(?:the|th|t)", r"(?<=a)b", r"(?=[aeiou])[a-m]", r"[^a-z]", r"(?i:st)", r"x*", r"'"),
    *("[\u4e00-\u9fff]", "\u00e9", "[A-Z\u00c0-\u00de]+", r"\x{301}", r"\h", r"\R", r"[[:alpha:]]+", r"[[:punct:]]", r"^", r"$"),
]


def models() -> dict[str, dict[str, Any]]:
    """The small tokenizers of the Go tests."""
    return {path.stem: json.loads(path.read_text())["tokenizer"] for path in sorted((TESTDATA / "testdata").glob("*.json"))}


def charsmap() -> dict[str, Any]:
    """A Precompiled normalizer."""
    specs = [case["Spec"] for case in json.loads((TESTDATA / "normal" / "testdata" / "golden.json").read_text())]
    return next(spec for spec in specs if spec["type"] == "Precompiled")


class Mixer:
    """Makes tokenizer.json files; not every one of them can be loaded."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.models = models()
        self.charsmap = charsmap()

    def next(self) -> dict[str, Any]:
        rng = self.rng
        made = copy.deepcopy(rng.choice(list(self.models.values())))
        if rng.random() < 0.8:
            made["normalizer"] = self.several("normalizers", self.normalizer)
        if rng.random() < 0.8:
            made["pre_tokenizer"] = self.several("pretokenizers", self.splitter)
        if rng.random() < 0.7:
            made["decoder"] = self.several("decoders", self.decoder)
        if made["model"]["type"] == "BPE":
            made["model"] |= {"fuse_unk": self.flag(), "byte_fallback": self.flag(), "ignore_merges": self.flag()}
        made["truncation"] = self.truncation() if rng.random() < 0.2 else None
        self.add_tokens(made)
        return made

    def flag(self) -> bool:
        return self.rng.random() < 0.5

    def several(self, kind: str, one: Any) -> dict[str, Any] | None:
        count = self.rng.choice([0, 1, 1, 2, 3])
        if count < 2:
            return one() if count else None
        return {"type": "Sequence", kind: [one() for _ in range(count)]}

    def pattern(self) -> dict[str, str]:
        rng = self.rng
        if rng.random() < 0.2:
            return {"String": rng.choice(STRINGS)}
        ways = ["".join(rng.choices(ATOMS, k=rng.choice([1, 1, 2, 3]))) for _ in range(rng.choice([1, 1, 2, 4]))]
        return {"Regex": "|".join(ways)}

    def normalizer(self) -> dict[str, Any]:
        rng = self.rng
        plain = [{"type": name} for name in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt", "ByteLevel")]
        accents = rng.choice([None, True, False])
        bert = {"type": "BertNormalizer", "clean_text": self.flag(), "handle_chinese_chars": self.flag(), "strip_accents": accents}
        return rng.choice(
            [
                *plain,
                bert | {"lowercase": self.flag()},
                {"type": "Strip", "strip_left": self.flag(), "strip_right": self.flag()},
                {"type": "Prepend", "prepend": rng.choice(["\u2581", "a", "<s>"])},
                {"type": "Replace", "pattern": self.pattern(), "content": rng.choice(["\u2581", "", " ", "the", "\u0301"])},
                self.charsmap,
            ]
        )

    def splitter(self) -> dict[str, Any]:
        rng = self.rng
        plain = [{"type": name} for name in ("Whitespace", "WhitespaceSplit", "BertPreTokenizer", "UnicodeScripts")]
        split = {"type": "Split", "pattern": self.pattern(), "behavior": rng.choice(BEHAVIORS), "invert": self.flag()}
        return rng.choice(
            [
                *plain,
                *[split] * 4,
                {"type": "ByteLevel", "add_prefix_space": self.flag(), "trim_offsets": True, "use_regex": self.flag()},
                {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": rng.choice(SCHEMES), "split": self.flag()},
                {"type": "Punctuation", "behavior": rng.choice(BEHAVIORS)},
                {"type": "Digits", "individual_digits": self.flag()},
                {"type": "CharDelimiterSplit", "delimiter": rng.choice("a \n\u2581")},
                {"type": "FixedLength", "length": rng.randint(1, 7)},
            ]
        )

    def decoder(self) -> dict[str, Any]:
        rng = self.rng
        return rng.choice(
            [
                *({"type": name} for name in ("ByteLevel", "Fuse", "ByteFallback")),
                {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": rng.choice(SCHEMES), "split": self.flag()},
                {"type": "WordPiece", "prefix": rng.choice(["##", "t"]), "cleanup": self.flag()},
                {"type": "BPEDecoder", "suffix": rng.choice(["</w>", "e"])},
                {"type": "CTC", "pad_token": "<pad>", "word_delimiter_token": rng.choice(["|", "e"]), "cleanup": self.flag()},
                {"type": "Strip", "content": rng.choice(" \u2581t"), "start": rng.randint(0, 2), "stop": rng.randint(0, 2)},
                {"type": "Replace", "pattern": {"String": rng.choice(STRINGS)}, "content": rng.choice([" ", "", "the"])},
            ]
        )

    def truncation(self) -> dict[str, Any]:
        rng = self.rng
        return {"direction": rng.choice(["Left", "Right"]), "max_length": rng.randint(4, 40), "strategy": "LongestFirst", "stride": 0}

    def add_tokens(self, made: dict[str, Any]) -> None:
        """More added tokens, and other flags of those that are there."""
        rng = self.rng
        vocabulary = made["model"]["vocab"]
        free = max([len(vocabulary) - 1, *(token["id"] for token in made["added_tokens"])]) + 1
        known = {token["content"] for token in made["added_tokens"]}
        pool = ["<x>", "<x><y>", " the", "the ", "STOP", "\u00e9", "e\u0301", "\u2581a", "\n\n", "aa", "<|", "\u4e16\u754c", "\u0130", "12"]
        for content in rng.sample(pool, rng.choice([0, 1, 3, 6])):
            if content not in known and content not in vocabulary:
                made["added_tokens"].append({"id": free, "content": content})
                free += 1
        for token in made["added_tokens"]:
            if "special" not in token or rng.random() < 0.3:
                token |= {"single_word": rng.random() < 0.3, "lstrip": rng.random() < 0.3, "rstrip": rng.random() < 0.3}
                token |= {"normalized": self.flag(), "special": self.flag()}
