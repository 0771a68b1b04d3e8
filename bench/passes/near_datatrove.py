"""datatrove: its four steps of MinHash in this process, by words cut at spaces; 16 bands of 8 hashes."""

from __future__ import annotations

from collections.abc import Iterator

from datatrove.data import Document
from datatrove.pipeline.dedup import MinhashConfig, MinhashDedupBuckets, MinhashDedupCluster, MinhashDedupFilter, MinhashDedupSignature
from datatrove.utils.logging import logger
from datatrove.utils.word_tokenizers import WordTokenizer
from shingles import BANDS, NGRAM, PERMUTATIONS
from work import Work


class Words(WordTokenizer):
    """Words cut at spaces: its own for English are spaCy's, which is slower."""

    def word_tokenize(self, text: str) -> list[str]:
        return text.split()

    def sent_tokenize(self, text: str) -> list[str]:
        return [text]

    def span_tokenize(self, text: str) -> list[tuple[int, int]]:
        return [(0, len(text))]


def documents(texts: list[str]) -> Iterator[Document]:
    return (Document(text=text, id=str(number)) for number, text in enumerate(texts))


def main() -> None:
    logger.remove()
    work = Work.from_args()
    texts = work.column("text")
    config = MinhashConfig(n_grams=NGRAM, num_buckets=BANDS, hashes_per_bucket=PERMUTATIONS // BANDS)
    signatures, buckets, removed = (f"{work.target}/{name}" for name in ("signatures", "buckets", "removed"))
    with work.clock():
        MinhashDedupSignature(signatures, config, Words()).run(documents(texts))
        for band in range(BANDS):
            MinhashDedupBuckets(signatures, buckets, config=config).run(None, band, BANDS)
        MinhashDedupCluster(buckets, removed, config).run(None)
        kept = sum(1 for _ in MinhashDedupFilter(removed).run(documents(texts)))
    work.tell(found=len(texts) - kept)


main()
