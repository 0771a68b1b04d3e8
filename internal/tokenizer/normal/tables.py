"""Writes tables.bin, what the `tokenizers` library knows of Unicode: `make tables`.

Everything is asked of the library itself, code point by code point, because ids have to be identical with its ids. Two things cannot be
seen from outside and are Unicode's: the numbers of combining classes, which never change once they are given, and the regional indicators.
tables.go says how the file is read.
"""

from __future__ import annotations

import struct
import unicodedata
import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path

from tokenizers import normalizers

FILE = Path(__file__).with_name("tables.bin")
SYLLABLES = range(0xAC00, 0xD7A4)  # of Hangul: their decompositions and classes follow from their numbers
PRIVATE = [range(0xE000, 0xF900), range(0xF0000, 0xFFFFE), range(0x100000, 0x10FFFE)]
BEYOND = 0x40000  # behind it are no letters and pictures, only controls, selectors and private use
REGIONAL = range(0x1F1E6, 0x1F200)
CHARACTERS = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000 and c not in SYLLABLES]
TOGETHER = 256  # characters that are asked at once, before those among them that matter are asked alone

Ask = Callable[[str], str]
Values = dict[int, int]
Texts = dict[int, str]


def changed(ask: Ask, before: str = "", after: str = "") -> Iterator[str]:
    """The characters with which a text does not stay as it is."""
    every = iter(CHARACTERS)
    while some := list(islice(every, TOGETHER)):
        text = "x".join(f"{before}{c}{after}" for c in some)
        if ask(text) != text:
            yield from (c for c in some if ask(f"{before}{c}{after}") != f"{before}{c}{after}")


class Forms:
    """Normalization forms: decompositions, the composites that compose again, and combining classes."""

    def __init__(self) -> None:
        self.nfd: Ask = normalizers.NFD().normalize_str
        nfkd: Ask = normalizers.NFKD().normalize_str
        nfc: Ask = normalizers.NFC().normalize_str
        self.canonical: Texts = {ord(c): self.nfd(c) for c in changed(self.nfd)}
        self.compatible: Texts = {ord(c): nfkd(c) for c in changed(nfkd) if nfkd(c) != self.nfd(c)}
        self.first: Texts = {}  # of a composite, what composes to it with the last rune of its decomposition
        for c, parts in self.canonical.items():
            if nfc(chr(c)) == chr(c):
                self.first[c] = nfc(parts[:-1])
                assert nfc(self.first[c] + parts[-1]) == chr(c), hex(c)

    def classes(self) -> Values:
        """The combining class of every rune that the library moves past one of another class: U+0334 has 1, U+0301 has 230."""
        found = {}
        for c in (chr(c) for c in range(0x110000) if unicodedata.combining(chr(c)) and c not in self.canonical):
            number = unicodedata.combining(c)
            text = f"a{c}\u0334" if number > 1 else f"a\u0301{c}"
            if self.nfd(text) != text:
                found[ord(c)] = number
        for c in changed(self.nfd, "a", "\u0334"):
            parts = self.nfd(c)
            known = ord(parts[-1]) in found or self.nfd(f"a{c}\u0334") == f"a{parts}\u0334"
            assert known, f"U+{ord(c):04X} has a combining class that Python's Unicode lacks"
        return found


def dropped(normalizer: normalizers.Normalizer) -> Iterable[int]:
    """The characters that a normalizer takes out of a text."""
    ask: Ask = normalizer.normalize_str
    return (ord(c) for c in changed(ask, "a", "a") if ask(f"a{c}a") == "aa")


def bert(clean_text: bool = False, strip_accents: bool = False) -> normalizers.Normalizer:
    return normalizers.BertNormalizer(clean_text=clean_text, handle_chinese_chars=False, strip_accents=strip_accents, lowercase=False)


def counter() -> Ask:
    """A normalizer that shows grapheme clusters: each that has less than six bytes becomes one Z, of others each character does.

    It is a Precompiled one, whose table has every byte but that of the newline as a key. The table is a double array: the root, the bytes
    behind 256, their values behind 512.
    """
    units = [256 << 10] + [0] * 767
    for byte in range(1, 256):
        if byte != ord("\n"):
            units[256 + byte] = (256 ^ 512) << 10 | 1 << 8 | byte
            units[512 + byte] = 1 << 31
    table = struct.pack("<I768I", 4 * len(units), *units)
    return normalizers.Precompiled(table + b"Z\0").normalize_str


MARK, JOINER, PICTURE = "\u0301", "\u200d", "\u00a9"
LINKER, CONSONANT = "\u094d", "\u0915"
L, V, T = "\u1100", "\u1160", "\u11a8"
CLASSES = [
    "CR",
    "LF",
    "Control",
    "Extend",
    "Joiner",
    "Regional",
    "Prepend",
    "SpacingMark",
    "L",
    "V",
    "T",
    "LV",
    "LVT",
    "Consonant",
    "Picture",
]


class Graphemes:
    """Classes of grapheme cluster breaks, found out by which characters stay together with which others.

    A short cluster at the end of a text is the gauge: it is one Z where a break lies before it, and as many as it has characters where it
    is part of a long cluster.
    """

    def __init__(self) -> None:
        self.ask = counter()

    def counts(self, chars: list[str], before: str, after: str) -> list[int]:
        """How many Z each text becomes."""
        text = "\n".join(f"{before}{c}{after}" for c in chars).replace("\0", "\1")  # a table has no key for zero, a control character
        return [len(line) for line in self.ask(text).split("\n")]

    def joined(self, chars: list[str], before: str, after: str) -> set[str]:
        """The characters with which a text of more than five bytes is one cluster, and its last two characters none of their own."""
        whole = len(before) + 1 + len(after)
        return {c for c, n in zip(chars, self.counts(chars, before, after), strict=True) if n == whole}

    def classes(self) -> Values:
        chars = [c for c in CHARACTERS if c not in "\r\n" and ord(c) not in REGIONAL]
        found = {ord("\r"): "CR", ord("\n"): "LF"} | dict.fromkeys(REGIONAL, "Regional")
        alone = {c for c, n in zip(chars, self.counts(chars, "", MARK * 2), strict=True) if n == 2}
        found |= {ord(c): "Control" for c in alone}
        beside = [c for c, n in zip(chars, self.counts(chars, "a", "a"), strict=True) if n == 2]
        behind = [c for c, n in zip(beside, self.counts(beside, "a", ""), strict=True) if n == 1]
        found |= dict.fromkeys(map(ord, set(beside) - set(behind)), "Prepend")
        extends = self.joined(behind, PICTURE, JOINER + PICTURE + MARK)
        found |= {ord(c): "Extend" if c in extends else "SpacingMark" for c in behind} | {ord(JOINER): "Joiner"}
        others = [c for c in chars if ord(c) not in found and ord(c) < BEYOND]
        found |= dict.fromkeys(map(ord, self.joined(others, "", JOINER + PICTURE + MARK)), "Picture")
        found |= dict.fromkeys(map(ord, self.joined(others, "", LINKER + CONSONANT + MARK)), "Consonant")
        before_l, before_v, before_t = (self.joined(others, "", jamo + MARK) for jamo in (L, V, T))
        found |= dict.fromkeys(map(ord, before_l), "L")
        found |= dict.fromkeys(map(ord, before_v & before_t), "V")
        found |= dict.fromkeys(map(ord, before_t - before_v), "T")
        return {c: CLASSES.index(name) + 1 for c, name in found.items()}

    def conjuncts(self, classes: Values) -> Values:
        """What may stand between two Indic consonants that stay together: 2, a linker, without which they do not; 1, others."""
        marks = [chr(c) for c, number in classes.items() if CLASSES[number - 1] in {"Extend", "Joiner"}]
        between = self.joined(marks, CONSONANT + LINKER, CONSONANT + MARK)
        linkers = self.joined(marks, CONSONANT, CONSONANT + MARK)
        return dict.fromkeys(map(ord, between), 1) | dict.fromkeys(map(ord, linkers), 2)


class Packer:
    """Varints, and lists of them as tables.go reads them."""

    def __init__(self) -> None:
        self.out = bytearray()

    def number(self, n: int) -> None:
        while n >= 0x80:
            self.out.append(n & 0x7F | 0x80)
            n >>= 7
        self.out.append(n)

    def signed(self, n: int) -> None:
        self.number(2 * n if n >= 0 else -2 * n - 1)

    def ranges(self, values: Values) -> None:
        found: list[list[int]] = []
        for c, value in sorted(values.items()):
            if found and found[-1][1] == c - 1 and found[-1][2] == value:
                found[-1][1] = c
            else:
                found.append([c, c, value])
        self.number(len(found))
        at = 0
        for first, last, value in found:
            self.number(first - at)
            self.number(last - first)
            self.number(value)
            at = last + 1

    def texts(self, values: Texts) -> None:
        self.number(len(values))
        at = 0
        for c, text in sorted(values.items()):
            self.number(c - at)
            self.number(len(text))
            at = previous = c
            for r in map(ord, text):
                self.signed(r - previous)
                previous = r

    def runs(self, distances: Values) -> None:
        """Runes that are equally far from what they become: all of a range, or every second one."""
        found: list[list[int]] = []
        for c, distance in sorted(distances.items()):
            if found and found[-1][3] == distance and c - found[-1][1] in ({found[-1][2]} if found[-1][2] else {1, 2}):
                found[-1][1:3] = c, c - found[-1][1]
            else:
                found.append([c, c, 0, distance])
        self.number(len(found))
        at = 0
        for first, last, stride, distance in found:
            self.number(first - at)
            self.number(last - first)
            self.number(stride)
            self.signed(distance)
            at = last


def tables() -> bytes:
    """The tables as they are before they are deflated."""
    pack, forms, graphemes = Packer(), Forms(), Graphemes()
    pack.ranges(forms.classes())
    for texts in (forms.canonical, forms.compatible, forms.first):
        pack.texts(texts)
    nonspacing = (c for c in dropped(bert(strip_accents=True)) if c not in forms.canonical)
    removed = (c for c in dropped(bert(clean_text=True)) if not any(c in private for private in PRIVATE))
    for members in (dropped(normalizers.StripAccents()), nonspacing, removed):
        pack.ranges(dict.fromkeys(members, 1))
    lower: Ask = normalizers.Lowercase().normalize_str
    pack.runs({ord(c): ord(lower(c)) - ord(c) for c in changed(lower) if len(lower(c)) == 1})
    classes = graphemes.classes()
    pack.ranges(classes)
    pack.ranges(graphemes.conjuncts(classes))
    return bytes(pack.out)


def main() -> None:
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    FILE.write_bytes(deflate.compress(tables()) + deflate.flush())


if __name__ == "__main__":
    main()
