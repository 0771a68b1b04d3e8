# ruff: noqa: RUF001, SIM905 - texts are meant to be confusing
"""Makes NAME.json here: small tokenizers, trained by the tokenizers library, and what it encodes and decodes with them.

Run with tokenizers 0.23: python golden.py
"""

import json
import random
from pathlib import Path

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

HERE = Path(__file__).parent
TEXT = (
    """The quick brown fox jumps over the lazy dog. She said: "I'll be there, don't wait!" It's 12345 miles to the sea.
def tokenize(text): return [word for word in text.split(' ') if word]
人工智能正在改变世界。 今天天气很好，我们去公园散步。 Привет, мир! Как дела сегодня? こんにちは世界 안녕하세요 세계
the the the there then them these those this that thing think thank and any ant answer another under until unless
""".split("\n")
    * 5
)
PIECES = [
    "the",
    "The ",
    " fox",
    "  ",
    "\n",
    "\t",
    "12",
    "3456",
    "don't",
    "'ll",
    "人工智能",
    "世",
    "界。",
    "мир",
    "é",
    "e\u0301",
    "👩‍👩‍👧",
    "\u2581",
    "<s>",
    "</s>",
    "<mask>",
    "<pad>",
    "zzz",
    "q",
    "\0",
    "\u00a0",
    "ß",
    "안녕",
    "Ⅷ",
    "<0x0A>",
    ".",
    "...",
    "STOP",
    "stop",
    "x" * 30,
    "th" * 40,
    " " * 20,
    "<sep>",
    "[CLS]",
]


def texts():
    rng = random.Random(11)
    yield from ["", " ", "a", "the fox", " the fox ", *PIECES]
    for _ in range(110):
        yield "".join(rng.choices(PIECES, k=rng.randint(1, 9)))


def trained(model, trainer, normalizer=None, splitter=None, decoder=None):
    t = Tokenizer(model)
    if normalizer:
        t.normalizer = normalizer
    if splitter:
        t.pre_tokenizer = splitter
    if decoder:
        t.decoder = decoder
    t.train_from_iterator(TEXT, trainer)
    return t


def byte_level():
    t = trained(
        models.BPE(),
        trainers.BpeTrainer(
            vocab_size=420,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            special_tokens=["<s>", "<pad>", "</s>"],
            show_progress=False,
        ),
        None,
        pre_tokenizers.ByteLevel(add_prefix_space=False),
        decoders.ByteLevel(),
    )
    t.add_tokens(
        [
            AddedToken("<mask>", lstrip=True, special=True, normalized=False),
            AddedToken("STOP", single_word=True),
            AddedToken("<sep>", rstrip=True),
            AddedToken("fox"),
        ]
    )
    t.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=False)
    return t


def byte_level_prefixed():
    t = trained(
        models.BPE(ignore_merges=True),
        trainers.BpeTrainer(vocab_size=400, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False),
        normalizers.NFC(),
        pre_tokenizers.ByteLevel(add_prefix_space=True),
        decoders.ByteLevel(),
    )
    t.add_special_tokens(["<s>"])
    t.enable_truncation(6, direction="left")
    return t


def fallback():
    alphabet = [f"<0x{b:02X}>" for b in range(256)]
    t = trained(
        models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True),
        trainers.BpeTrainer(vocab_size=560, special_tokens=["<unk>", "<s>", "</s>", *alphabet], limit_alphabet=60, show_progress=False),
        normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")]),
        pre_tokenizers.Split("\n", "isolated"),
        decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]),
    )
    said = json.loads(t.to_str())
    said["added_tokens"] = [a for a in said["added_tokens"] if not a["content"].startswith("<0x")]
    said["pre_tokenizer"] = None
    t = Tokenizer.from_str(json.dumps(said))
    t.add_tokens([AddedToken("stop", normalized=True)])
    t.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 1), ("</s>", 2)])
    t.enable_truncation(20)
    return t


def suffixed():
    return trained(
        models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"),
        trainers.BpeTrainer(vocab_size=300, special_tokens=["<unk>"], end_of_word_suffix="</w>", limit_alphabet=40, show_progress=False),
        normalizers.Lowercase(),
        pre_tokenizers.Whitespace(),
        decoders.BPEDecoder(),
    )


def prefixed():
    return trained(
        models.BPE(unk_token="<unk>", fuse_unk=True, continuing_subword_prefix="##"),
        trainers.BpeTrainer(
            vocab_size=300, special_tokens=["<unk>"], continuing_subword_prefix="##", limit_alphabet=40, show_progress=False
        ),
        None,
        pre_tokenizers.Whitespace(),
        decoders.WordPiece(),
    )


def partial():
    """Characters without a token are left out, and their neighbours meet."""
    return trained(models.BPE(), trainers.BpeTrainer(vocab_size=250, limit_alphabet=30, show_progress=False))


def word_piece():
    t = trained(
        models.WordPiece(unk_token="[UNK]"),
        trainers.WordPieceTrainer(vocab_size=300, special_tokens=["[UNK]", "[CLS]", "[SEP]"], show_progress=False),
        normalizers.BertNormalizer(),
        pre_tokenizers.BertPreTokenizer(),
        decoders.WordPiece(),
    )
    t.post_processor = processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    return t


def unigram():
    return trained(
        models.Unigram(),
        trainers.UnigramTrainer(vocab_size=300, special_tokens=["<unk>", "</s>"], unk_token="<unk>", show_progress=False),
        normalizers.NFKC(),
        pre_tokenizers.Metaspace(),
        decoders.Metaspace(),
    )


for make in [byte_level, byte_level_prefixed, fallback, suffixed, prefixed, partial, word_piece, unigram]:
    t = make()
    cases = []
    for text in texts():
        plain, framed = t.encode(text, add_special_tokens=False), t.encode(text)
        cases.append(
            {
                "text": text,
                "ids": plain.ids,
                "framed": framed.ids,
                "starts": [len(text[:a].encode()) for a, _ in plain.offsets],
                "decoded": t.decode(framed.ids, skip_special_tokens=False) if framed.ids else "",
                "skipped": t.decode(framed.ids) if framed.ids else "",
            }
        )
    out = {"tokenizer": json.loads(t.to_str()), "size": t.get_vocab_size(), "cases": cases}
    (HERE / f"{make.__name__}.json").write_text(json.dumps(out, ensure_ascii=True, separators=(",", ":")) + "\n")
