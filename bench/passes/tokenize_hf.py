"""The tokenizers library: encode_batch, or encode_batch_fast, which leaves offsets out."""

from __future__ import annotations

from ids import encode
from tokenizers import Tokenizer
from work import Work


def main() -> None:
    work = Work.from_args()
    file, method = work.arguments
    run = getattr(Tokenizer.from_file(file), method)
    encode(work, lambda texts: [each.ids for each in run(texts, add_special_tokens=False)])


main()
