"""Functions on rows and tokens in memory, with the names that fast-axolotl has for them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import compress
from typing import Any

import pyarrow as pa

from ._call import PIECE, Caller, Joined, ZerosError, joined, listed, pieces
from ._errors import MissingError, UsageError
from ._options import Names, Path, Size, names
from ._sequences import Hashes, Indices, flags

_SHA = 32  # bytes of a hash of text
_KEY = 16  # and of anything else
_FORMATS = {
    "parquet": "parquet", "arrow": "arrow", "ipc": "arrow", "arrows": "arrow", "feather": "feather", "csv": "csv", "tsv": "csv",
    "json": "json", "jsonl": "jsonl", "ndjson": "jsonl", "txt": "text", "text": "text",
    "mds": "mds", "tar": "webdataset", "tfrecord": "tfrecord", "npy": "npy",
}  # fmt: skip
_COMPRESSIONS = {"gz": "gzip", "zst": "zstd", "bz2": "bzip2", "xz": "xz", "lz4": "lz4", "sz": "snappy", "br": "brotli"}


def deduplicate_indices(
    rows: Any,
    existing_hashes: Iterable[str] | None = None,
    num_threads: int = 0,
    *,
    by: Names | None = None,
    normalize: bool = False,
    memory: Size | None = None,
) -> tuple[Indices, Hashes]:
    """The numbers of the rows that are the first of their kind, in order, and their hashes.

    rows are a list of str or bytes, an Arrow array, table or record batch, or the path of files. Of tables and files, by names the columns
    that are compared. Rows whose hash is among existing_hashes are left out; what an earlier call returned can be given. Hashes of text
    and bytes are SHA-256 of it, as those of parallel_hash_rows; those of other rows, and with normalize, have 128 bits and are weir's
    own. Both results are sequences that are made when they are looked at: list makes a list. SHA-256 is worked out when a hash is looked
    at, of all of them, which hold the rows they are of until then; to give them to a later call takes no look. normalize takes texts for
    the same that differ in case, white space or composition (NFC) only. memory bounds the process that does the work: what finds no room
    goes to temporary files.

    >>> import weir
    >>> keep, hashes = weir.deduplicate_indices(["a", "b", "a"])
    >>> keep
    [0, 1]
    >>> weir.deduplicate_indices(["b", "c"], hashes)[0]
    [1]
    """
    is_path = isinstance(rows, (str, os.PathLike))
    if not is_path:
        rows = _sized(rows)
    compared = names(by)
    plain = not (is_path or normalize) and _is_plain(rows)
    if compared and not is_path and not isinstance(rows, (pa.Table, pa.RecordBatch)):
        raise UsageError("by names columns of a table or of files; these rows have none")
    known, width, before = _known(existing_hashes, plain)
    bits = plain and width == _KEY  # SHA-256 of the first of their kind may never be asked for, and nothing else is
    work = {"distinct": True, "bits": bits, "sha": width == _SHA, "normalize": normalize, "by": compared}
    work["paths"] = [os.fspath(rows)] if is_path else []
    parts = [before] if is_path else [before, rows]
    count, where, data = _hashed(work, parts, known, width=width, threads=num_threads, memory=memory)
    if count == len(before):
        return Indices(pa.nulls(0, pa.bool_())), Hashes(b"", _SHA if plain else _KEY)
    whole = pa.py_buffer(data)
    first = pa.Array.from_buffers(pa.bool_(), count, [None, whole.slice(where)]).slice(len(before))
    if bits:
        keep = Indices(first)
        return keep, Hashes.of(_kept(rows, first), len(keep), _SHA, lambda kept: _sums(kept, num_threads, memory))
    sums = pa.Array.from_buffers(pa.binary(width), count, [None, whole.slice(0, count * width)]).filter(first)
    return Indices(pa.concat_arrays([first])), Hashes(memoryview(sums.buffers()[1])[: len(sums) * width], width)


def parallel_hash_rows(rows: Any, num_threads: int = 0) -> list[str]:
    """The SHA-256 of every row, in hexadecimal: rows are a list of str or bytes, or an Arrow array of either.

    >>> import weir
    >>> weir.parallel_hash_rows(["a"])
    ['ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb']
    """
    return list(Hashes(_sums(_sized(rows), num_threads, None), _SHA))


def pack_sequences(
    sequences: Iterable[Sequence[int]], max_length: int, pad_token_id: int, eos_token_id: int, label_pad_id: int = -100
) -> dict[str, list[list[int]]]:
    """Rows of max_length tokens, each of as many sequences, in order, as fit.

    Every one is whole, with the end token and one of padding behind it. A sequence that does not fit a row alone is cut: its first
    max_length - 1 tokens and the end token are a row.

    >>> import weir
    >>> weir.pack_sequences([[1, 2], [3], [4, 5, 6, 7, 8, 9, 10]], 7, 0, 99)["input_ids"]
    [[1, 2, 99, 0, 3, 99, 0], [4, 5, 6, 7, 8, 9, 99]]
    """
    _positive(max_length)
    packed = _Packed(max_length, pad_token_id, label_pad_id)
    for sequence in sequences:
        ids = [*sequence[: max_length - 1], eos_token_id]
        if len(ids) < max_length:
            packed.add([*ids, pad_token_id], [*ids, label_pad_id], [1] * len(ids) + [0])
        else:
            packed.add(ids, ids, [1] * len(ids))
    return packed.done()


def concatenate_and_pack(  # noqa: PLR0917 - as people know it
    input_ids: Sequence[Sequence[int]],
    labels: Sequence[Sequence[int]],
    attention_masks: Sequence[Sequence[int]],
    max_length: int,
    pad_token_id: int,
    label_pad_id: int = -100,
) -> dict[str, list[list[int]]]:
    """Rows of max_length tokens, each of as many sequences, in order, as fit. Sequences longer than max_length are cut, all others whole.

    >>> import weir
    >>> weir.concatenate_and_pack([[1, 2], [3], [4]], [[-100, 2], [3], [4]], [[1, 1], [1], [1]], 3, 0)["labels"]
    [[-100, 2, 3], [4, -100, -100]]
    """
    _positive(max_length)
    if not len(input_ids) == len(labels) == len(attention_masks):
        counts = f"{len(input_ids)} input_ids, {len(labels)} labels and {len(attention_masks)} attention_masks"
        raise UsageError(f"{counts}: a sequence has one of each")
    packed = _Packed(max_length, pad_token_id, label_pad_id)
    for i, (ids, label, mask) in enumerate(zip(input_ids, labels, attention_masks, strict=True)):
        if not len(ids) == len(label) == len(mask):
            raise UsageError(f"sequence {i} has {len(ids)} tokens, {len(label)} labels and an attention mask of {len(mask)}")
        packed.add(ids[:max_length], label[:max_length], mask[:max_length])
    return packed.done()


def pad_sequences(
    sequences: Iterable[Sequence[int]],
    target_length: int | None = None,
    pad_value: int = 0,
    padding_side: str = "right",
    pad_to_multiple_of: int | None = None,
) -> list[list[int]]:
    """All sequences at one length: target_length or that of the longest, up to a multiple. Longer ones lose their end.

    >>> import weir
    >>> weir.pad_sequences([[1, 2, 3], [4]], pad_to_multiple_of=4, padding_side="left")
    [[0, 1, 2, 3], [0, 0, 0, 4]]
    """
    if padding_side not in ("right", "left"):
        raise UsageError("padding_side must be 'right' or 'left'")
    several = list(sequences)
    length = max(map(len, several), default=0) if target_length is None else target_length
    if length < 0 or (pad_to_multiple_of or 0) < 0:
        raise UsageError("target_length and pad_to_multiple_of are not below 0")
    if pad_to_multiple_of:
        length = -(-length // pad_to_multiple_of) * pad_to_multiple_of
    padding = [pad_value] * length
    if padding_side == "left":
        return [[*padding[min(len(s), length) :], *s[:length]] for s in several]
    return [[*s[:length], *padding[len(s) :]] for s in several]


def detect_format(file_path: Path) -> tuple[str, str | None]:
    """What a file or directory is, and how it is compressed: by what is in it, or by its name where there is no such file.

    >>> import weir
    >>> weir.detect_format("not/there/yet.jsonl.zst")
    ('jsonl', 'zstd')
    """
    path = os.fspath(file_path)
    if not path:
        raise UsageError("file_path is empty")
    if not (os.path.exists(path) or "://" in path):
        return _by_name(path)
    if any(os.path.exists(os.path.join(path, name)) for name in ("state.json", "dataset_info.json", "dataset_dict.json")):
        return "hf_dataset", None
    caller = Caller({"work": "detect", "paths": [path]})
    try:
        found = caller.ask({"do": "detect"})
    finally:
        caller.end()
    kind = found["format"]
    if kind in ("json", "jsonl"):
        kind = "json" if _endings(path)[0] == "json" else "jsonl"
    return kind, found["compression"] or None


def _endings(path: str) -> tuple[str, str | None]:
    """The ending of a name, and the compression that one behind it tells."""
    name, _, last = os.path.basename(path).lower().rpartition(".")
    if last in _COMPRESSIONS:
        return name.rpartition(".")[2], _COMPRESSIONS[last]
    return last, None


def _by_name(path: str) -> tuple[str, str | None]:
    ending, compression = _endings(path)
    if ending not in _FORMATS:
        raise MissingError(f"{path}: no such file, and its name does not tell its format")
    return _FORMATS[ending], compression


class _Packed:
    """Rows of one length that are filled one after the other."""

    def __init__(self, length: int, pad: int, label_pad: int) -> None:
        self._length = length
        self._pads = (pad, label_pad, 0)
        self._rows: tuple[list[list[int]], ...] = ([], [], [])
        self._now: tuple[list[int], ...] = ([], [], [])

    def add(self, *sequence: Sequence[int]) -> None:
        """Adds a sequence that fits an empty row."""
        if len(self._now[0]) + len(sequence[0]) > self._length:
            self._turn()
        for column, values in zip(self._now, sequence, strict=True):
            column.extend(values)

    def _turn(self) -> None:
        for rows, column, pad in zip(self._rows, self._now, self._pads, strict=True):
            column.extend([pad] * (self._length - len(column)))
            rows.append(column)
        self._now = ([], [], [])

    def done(self) -> dict[str, list[list[int]]]:
        if self._now[0]:
            self._turn()
        return dict(zip(("input_ids", "labels", "attention_mask"), self._rows, strict=True))


def _positive(max_length: int) -> None:
    if max_length < 1:
        raise UsageError(f"max_length is {max_length}; it is at least 1")


def _batches(rows: Any, kind: pa.DataType, join: bool) -> Iterator[pa.RecordBatch | Joined]:
    """Rows as they are sent; a list has values of that kind."""
    if isinstance(rows, (pa.Table, pa.RecordBatch)):
        return (part for batch in _parts(rows) for part in pieces(batch))
    if isinstance(rows, (pa.Array, pa.ChunkedArray)):
        chunks = rows.chunks if isinstance(rows, pa.ChunkedArray) else [rows]
        plain = _plain(rows.type)
        chunks = [chunk if plain is None else chunk.cast(plain) for chunk in chunks]
        return (part for chunk in chunks for part in pieces(pa.record_batch([chunk], ["row"])))
    return joined(rows, kind, "row") if join else listed(rows, kind, "row")


def _is_plain(rows: Any) -> bool:
    """Whether rows are texts or bytes, whose hash is SHA-256."""
    if isinstance(rows, (pa.Array, pa.ChunkedArray)):
        return _plain(rows.type) is not None
    return not isinstance(rows, (pa.Table, pa.RecordBatch))


def _sized(rows: Any) -> Any:
    return rows if isinstance(rows, (list, tuple, pa.Array, pa.ChunkedArray, pa.Table, pa.RecordBatch)) else list(rows)


def _parts(rows: pa.Table | pa.RecordBatch) -> list[pa.RecordBatch]:
    return rows.to_batches() if isinstance(rows, pa.Table) else [rows]


def _plain(kind: pa.DataType) -> pa.DataType | None:
    """The plainest type of the same text or bytes; None: it is neither."""
    if pa.types.is_dictionary(kind):
        return _plain(kind.value_type)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.large_string()
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind):
        return pa.large_binary()
    return None


def _kept(rows: Any, first: pa.BooleanArray) -> Callable[[], Any]:
    """The rows that are the first of their kind, as they are at this moment: a list may change."""
    if isinstance(rows, (pa.Array, pa.ChunkedArray)):
        return lambda: rows.cast(_plain(rows.type)).filter(first)  # views have no filter
    chosen = list(compress(rows, flags(first)))
    return lambda: chosen


def _sums(rows: Any, threads: int, memory: Size | None) -> memoryview:
    """The SHA-256 of every row, one behind the other."""
    if not _is_plain(rows):
        raise UsageError("rows to hash are text or bytes")
    count, _, data = _hashed({"sha": True}, [rows], b"", width=_SHA, threads=threads, memory=memory)
    return data[: count * _SHA]


def _known(existing: Iterable[str] | None, plain: bool) -> tuple[bytes | memoryview, int, Any]:
    """Hashes that were given, one behind the other, the bytes by which rows are compared, and the rows of hashes that are not known yet."""
    width = _SHA if plain else _KEY
    if isinstance(existing, Hashes):
        if existing.width == width and existing.unseen is not None:
            return b"", _KEY, existing.unseen()
        given, raw = existing.width, memoryview(b"") if existing.unseen is not None else existing.raw
        some = len(existing) > 0
    else:
        several = list(existing or ())
        given, raw = _bytes(several)
        some = bool(several)
    if not some:
        return b"", _KEY, []
    if given != width:
        digits = f"existing_hashes have {2 * given} digits, those of these rows {2 * width}"
        raise UsageError(f"{digits}: they were made of other rows, or with other options")
    return raw, width, []


def _bytes(several: list[str]) -> tuple[int, memoryview]:
    """The bytes of each hash, and of all."""
    lengths = set(map(len, several)) or {0}
    if len(lengths) > 1 or not all(isinstance(one, str) for one in several):
        raise UsageError("existing_hashes are texts of one length, as this function and parallel_hash_rows return them")
    try:
        return min(lengths) // 2, memoryview(bytes.fromhex("".join(several)))
    except ValueError:
        raise UsageError("existing_hashes are not all hexadecimal") from None


def _hashed(
    work: dict[str, Any], parts: list[Any], known: Any, *, width: int, threads: int, memory: Size | None, join: bool = True
) -> tuple[int, int, memoryview]:
    """How many rows there are in all parts, where the bits are, and what is before them: all hashes, if they are asked for."""
    kind = pa.large_string() if work.get("normalize") else pa.large_binary()
    expect = sum(map(len, parts)) + len(known) // width
    with tempfile.TemporaryDirectory(prefix="weir-") as scratch:
        given = {"work": "rows", "threads": threads, "memory": None if memory is None else str(memory), "scratch": scratch}
        caller = Caller({**given, **work, "expect": expect})
        try:
            some = PIECE // width * width
            for at in range(0, len(known), some):
                size = caller.slots[0].put_bytes(known[at : at + some])
                caller.ask({"do": "earlier", "slot": 0, "size": size, "rows": size // width})
            if work.get("paths"):
                caller.ask({"do": "scan"})
            for _ in caller.each((batch for rows in parts for batch in _batches(rows, kind, join)), {"do": "rows"}):
                pass
            end = caller.ask({"do": "finish"})
            return end["rows"], end["from"], caller.slots[0].result(end["to"])
        except ZerosError:
            if not join:
                raise
        finally:
            caller.end()
    return _hashed(work, parts, known, width=width, threads=threads, memory=memory, join=False)
