"""Every file of the Parquet project's corpus: the good ones read as pyarrow reads them, the bad ones are refused with a place."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from binary import MIB, Result, table, weir
from compare import differences

SETTINGS = {"plain": ["--threads", "1"], "cut": ["--threads", "4", "--batch-size", "7"]}

# Files that one of the two readers refuses, and why that is right.
CHECKSUM = "weir checks every CRC that is there; pyarrow only when asked to"
REFUSED_BY_WEIR = {
    "datapage_v1-corrupt-checksum.parquet": CHECKSUM,
    "rle-dict-uncompressed-corrupt-checksum.parquet": CHECKSUM,
}
UNREADABLE_BY_PYARROW = {
    "incorrect_map_schema.parquet": "map keys declared optional, without a null among them: weir reads such a map",
    "large_string_map.brotli.parquet": "one batch of it is over 2 GiB; see test_a_value_over_the_budget_is_refused_with_the_number",
}
# Bad files that hold whole data: the damage is one that a reader may pass over.
READABLE = {
    "ARROW-GH-43605.parquet": "indices of bit width 0, which is right for a dictionary of one value; pyarrow reads it too",
}


def refused(result: Result, file: Path) -> str:
    """The one line a damaged file is answered with."""
    assert result.code == 4, f"exit {result.code}: {result.err}"
    lines = result.err.splitlines()
    assert len(lines) == 1, result.err
    assert str(file) in lines[0]
    assert not re.search(r"panic|goroutine|runtime error|\.go:\d+|please report", result.err)
    return lines[0]


@pytest.mark.parametrize("setting", SETTINGS)
def test_good_file_reads_as_pyarrow_reads_it(good_file: Path, setting: str) -> None:
    if good_file.name in REFUSED_BY_WEIR | UNREADABLE_BY_PYARROW:
        pytest.skip("compared below: " + (REFUSED_BY_WEIR | UNREADABLE_BY_PYARROW)[good_file.name])
    want = pq.ParquetFile(good_file).read()
    got = table(good_file, "--memory", "256MiB", *SETTINGS[setting])
    assert differences(got, want) == []


@pytest.mark.parametrize("name", REFUSED_BY_WEIR)
def test_corrupt_checksum_is_refused_with_its_place(corpus: Path, name: str) -> None:
    file = corpus / "data" / name
    line = refused(weir("scan", file, "--memory", "64MiB", "--quiet"), file)
    assert re.search(r'row group 0, column "\w+", (dictionary )?page.*checksum', line)
    with pytest.raises(OSError, match=r"CRC|checksum"):
        pq.ParquetFile(file, page_checksum_verification=True).read()


@pytest.mark.parametrize("setting", SETTINGS)
def test_map_with_optional_keys_is_read(corpus: Path, setting: str) -> None:
    got = table(corpus / "data" / "incorrect_map_schema.parquet", "--memory", "256MiB", *SETTINGS[setting])
    assert got.to_pylist() == [{"my_map": [("parent", "another"), ("name", "report")]}]


def test_a_value_over_the_budget_is_refused_with_the_number(corpus: Path) -> None:
    result = weir("scan", corpus / "data" / "large_string_map.brotli.parquet", "--memory", "256MiB", "--quiet")
    assert result.code == 3, result.err
    number = re.search(r"--memory 256MiB is too small: .*; try --memory (\d+)MiB", result.err)
    assert number
    assert int(number[1]) * MIB > 2 << 30


def test_encrypted_file_is_refused(encrypted_file: Path) -> None:
    line = refused(weir("scan", encrypted_file, "--memory", "64MiB", "--quiet"), encrypted_file)
    assert "encrypted: weir cannot read" in line


@pytest.mark.parametrize("setting", SETTINGS)
def test_bad_file_is_refused_with_its_place(bad_file: Path, setting: str) -> None:
    run: list[str | Path] = ["scan", bad_file, "--memory", "64MiB", *SETTINGS[setting]]
    if bad_file.name in READABLE:
        assert differences(table(*run[1:]), pq.ParquetFile(bad_file).read()) == []
        return
    line = refused(weir(*run, "--quiet"), bad_file)
    assert re.search(r'row group \d+, column "|footer: ', line)
    with pytest.raises((OSError, ValueError)):
        pq.ParquetFile(bad_file).read()
