"""Writes tables.txt: which characters belong to which class, asked of the reference itself.

Run with a Python that has `tokenizers` (0.23.3 wrote the file that is checked in): python generate.py > tables.txt
Each line is a name and its ranges, `first-last` in hexadecimal, surrogates left out.
"""

import tokenizers
from tokenizers import Regex
from tokenizers import pre_tokenizers as pre

CODES = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
TEXT = "".join(map(chr, CODES))
CATEGORIES = "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Co Cn".split()
SCRIPTS = """Arabic Armenian Bengali Bopomofo Common Cyrillic Devanagari Ethiopic Georgian Greek Gujarati Gurmukhi Han Hangul
Hebrew Hiragana Inherited Kannada Katakana Khmer Lao Latin Malayalam Mongolian Myanmar Oriya Sinhala Tamil Telugu Thai
Tibetan""".split()


def write(name, codes):
    runs = []
    for c in sorted(codes):
        if runs and runs[-1][1] == c - 1:
            runs[-1][1] = c
        else:
            runs.append([c, c])
    print(name, " ".join(f"{a:x}" if a == b else f"{a:x}-{b:x}" for a, b in runs))


def covered(pieces):
    return {CODES[i] for _, (a, b) in pieces for i in range(a, b)}


def onig(pattern):
    return covered(pre.Split(Regex(f"(?:{pattern})+"), "removed", True).pre_tokenize_str(TEXT))


def digits():
    pieces = pre.Digits(False).pre_tokenize_str(TEXT)
    zero = next(i for i, (_, (a, b)) in enumerate(pieces) if a <= ord("0") < b)
    return covered(pieces[zero % 2 :: 2])


def scripts():
    """Characters by the script that UnicodeScripts sees; those of no script belong to whatever stands before them."""
    split = pre.UnicodeScripts().pre_tokenize_str
    first, found = [], []
    for _, (a, b) in split(TEXT):
        codes = [c for c in CODES[a:b] if len(split("a" + chr(c))) == 2 or len(split("京" + chr(c))) == 2]
        for k, other in enumerate(first):
            if len(split(other + chr(codes[0]))) == 1:
                found[k].update(codes)
                break
        else:
            first.append(chr(codes[0]))
            found.append(set(codes))
    return found


print(f"# Made by generate.py with tokenizers {tokenizers.__version__}. onig: its Oniguruma (Unicode 16); rust: its own characters.")
for name in CATEGORIES:
    write("onig." + name, onig(rf"\p{{{name}}}"))
for name in ("alpha", "upper", "lower"):
    write("onig." + name, onig(rf"\p{{{name}}}"))
for name in ("word", "punct"):
    write(f"onig.[{name}]", onig(f"[[:{name}:]]"))
for name in SCRIPTS:
    write("onig." + name, onig(rf"\p{{{name}}}"))
write("rust.number", digits())
write("rust.punctuation", set(CODES) - covered(pre.Punctuation("removed").pre_tokenize_str(TEXT)))
word = pre.Whitespace().pre_tokenize_str
write("rust.word", {c for c in CODES if word("a" + chr(c)) == [("a" + chr(c), (0, 2))]})
for number, codes in enumerate(scripts()):
    write(f"rust.script.{number}", codes)
