"""weir fit, transform and --fit-from: parameters alone, applied to other data, continued as partial_fit does; and the schema of recipes."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

import cgroup
import s3
from binary import MIB, command, weir
from testdata import dataset

ROWS = 20_000
SPLIT = ["--split", "train=80,val=10,test=10"]
RULES = ["--label", "y", "--keep", "id", "--scale", "f*=standard,g=minmax", "--impute", "g=mean", "--encode", "c=onehot"]
MEMORY = ["--memory", "128MiB", "--quiet"]


@pytest.fixture(scope="module")
def remote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[s3.Service]:
    if (binary := s3.program()) is None:
        pytest.skip("the S3 service is built with Go, which is not here")
    with s3.service(binary, tmp_path_factory.mktemp("s3"), "bucket") as running:
        yield running


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two halves: numbers with and without gaps, a category of which the second half has more, a label."""
    rng = np.random.default_rng(11)
    folder = tmp_path_factory.mktemp("raw")
    for part, words in enumerate((["red", "green"], ["blue", "red", "amber"])):
        gaps = rng.random(ROWS) < 0.1
        rows = pa.table(
            {
                "id": np.arange(part * ROWS, (part + 1) * ROWS),
                "f0": rng.normal(5 + part, 3, ROWS),
                "f1": rng.normal(-1e3, 10, ROWS) * (1 + part),
                "g": pa.array(np.where(gaps, np.nan, rng.exponential(2, ROWS)), from_pandas=True),
                "c": rng.choice(words, ROWS),
                "y": rng.integers(0, 2, ROWS),
            }
        )
        pq.write_table(rows, folder / f"half-{part}.parquet", row_group_size=3_000)
    return folder


def params(file: Path) -> dict[str, dict[str, Any]]:
    """What a fit found, by column."""
    return {column["name"]: column for column in json.loads(file.read_bytes())["columns"]}


def test_fit_writes_what_the_manifest_of_prepare_has(raw: Path, tmp_path: Path) -> None:
    weir("prepare", raw, "-o", f"{tmp_path}/out/", *RULES, *SPLIT, *MEMORY).done()
    weir("fit", raw, "-o", tmp_path / "p.json", *RULES, *SPLIT, *MEMORY, "--threads", "1", "--batch-size", "777").done()
    text = (tmp_path / "p.json").read_bytes()
    assert text.strip() in (tmp_path / "out" / "manifest.json").read_bytes()
    piped = weir("fit", raw, "-o", "-", *RULES, *SPLIT, *MEMORY).done()
    assert piped.out == text and piped.err == ""
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["p.json"]
    weir("fit", raw, "-o", tmp_path / "all.json", *RULES, *MEMORY).done()
    assert json.loads((tmp_path / "all.json").read_bytes())["rows"] == 2 * ROWS


@pytest.mark.parametrize("named", ["", "manifest.json"])
def test_transformed_rows_are_those_that_prepare_wrote(raw: Path, tmp_path: Path, named: str) -> None:
    out = tmp_path / "out"
    weir("prepare", raw, "-o", f"{out}/", *RULES, *SPLIT, *MEMORY).done()
    weir("transform", raw, "--params", f"{out}/{named}", "-o", f"{tmp_path}/t/", "--part-size", "1MiB", "--memory", "64MiB").done()
    made = pq.read_table(tmp_path / "t")
    assert made["id"].to_pylist() == list(range(2 * ROWS)), "the order is not that of the source"
    want = pa.concat_tables(pq.read_table(out / name) for name in ("train", "val", "test")).sort_by("id")
    assert made.schema == want.schema
    for name in made.column_names:
        assert made[name].to_numpy().tobytes() == want[name].to_numpy().tobytes(), name


def test_transform_writes_what_scan_writes(raw: Path, tmp_path: Path) -> None:
    weir("fit", raw, "-o", tmp_path / "p.json", *RULES, *MEMORY).done()
    for to in ("csv", "jsonl", "arrow", "parquet"):
        weir("transform", raw, "--params", tmp_path / "p.json", "--to", to, "-o", tmp_path / f"x.{to}", *MEMORY).done()
        rows = weir("scan", tmp_path / f"x.{to}", "--to", "jsonl", "-o", "-", *MEMORY).done().out.splitlines()
        assert len(rows) == 2 * ROWS and json.loads(rows[-1])["id"] == 2 * ROWS - 1
    features = tmp_path / "features.npy"
    weir("fit", raw, "-o", tmp_path / "f.json", "--scale", "f*=standard", *MEMORY).done()
    weir("transform", raw, "--params", tmp_path / "f.json", "--columns", "f0,f1", "--to", "npy", "-o", features, *MEMORY).done()
    array = np.load(features)
    assert array.shape == (2 * ROWS, 2) and np.allclose(array.std(axis=0), 1)


def test_parameters_lie_on_s3_as_they_do_on_disk(raw: Path, tmp_path: Path, remote: s3.Service) -> None:
    url, env = f"s3://{remote.bucket}/fit", remote.env()
    remote.put(raw / "half-0.parquet", "fit/raw/half-0.parquet")
    weir("fit", raw / "half-0.parquet", "-o", tmp_path / "p.json", *RULES, *MEMORY).done()
    weir("fit", f"{url}/raw/", "-o", f"{url}/p.json", *RULES, *MEMORY, env=env).done()
    weir("prepare", f"{url}/raw/", "-o", f"{url}/out/", *RULES, *MEMORY, env=env).done()
    for params in ("p.json", "out/", "out", "out/manifest.json"):
        weir("transform", f"{url}/raw/", "--params", f"{url}/{params}", "-o", tmp_path / "x.parquet", *MEMORY, env=env).done()
    went_on = [
        weir("fit", raw / "half-1.parquet", "--fit-from", prior, "-o", "-", *MEMORY, env=env).done().out
        for prior in (f"{url}/p.json", str(tmp_path / "p.json"))
    ]
    assert went_on[0] == went_on[1]


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux counts it")
@pytest.mark.parametrize("limit", [80, 128])
def test_fit_and_transform_live_inside_memory(tmp_path: Path, limit: int) -> None:
    source, kept = dataset("numeric"), tmp_path / "p.json"
    for args in (
        ["fit", source, "--scale", "*=standard", "-o", kept],
        ["transform", source, "--params", kept, "-o", tmp_path / "x.parquet"],
    ):
        run = command(*args, "--quiet", "--memory", f"{limit}MiB")
        outcome = cgroup.confined(run, limit * MIB) if cgroup.available() else cgroup.sampled(run)
        assert (outcome.code, outcome.kills) == (0, 0), outcome.err
        assert cgroup.available() or outcome.peak <= limit * MIB


def test_missing_columns_and_bad_parameters_are_named(raw: Path, tmp_path: Path) -> None:
    weir("fit", raw, "-o", tmp_path / "p.json", *RULES, *MEMORY).done()
    missing = weir("transform", raw, "--params", tmp_path / "p.json", "--columns", "id,f0,y", "-o", tmp_path / "x.parquet", *MEMORY)
    assert missing.code == 2 and '"f1", "g", "c"' in missing.err
    (tmp_path / "bad.json").write_text((tmp_path / "p.json").read_text()[:-40])
    bad = weir("transform", raw, "--params", tmp_path / "bad.json", "-o", tmp_path / "x.parquet", *MEMORY)
    assert bad.code == 4 and "bad.json" in bad.err
    nowhere = weir("transform", raw, "--params", tmp_path / "nowhere.json", "-o", tmp_path / "x.parquet", *MEMORY)
    assert nowhere.code == 5 and "nowhere.json" in nowhere.err
    small = weir("transform", raw, "--params", tmp_path / "p.json", "-o", tmp_path / "x.parquet", "--memory", "21MiB")
    assert small.code == 3 and "try --memory" in small.err
    assert not (tmp_path / "x.parquet").exists()


@pytest.mark.parametrize(("rule", "scaler"), [("standard", StandardScaler), ("minmax", MinMaxScaler), ("maxabs", MaxAbsScaler)])
def test_a_fit_goes_on_as_partial_fit_does(raw: Path, tmp_path: Path, rule: str, scaler: type) -> None:
    names = ["f0", "f1", "g"]
    scale = ["--scale", ",".join(f"{name}={rule}" for name in names)]
    weir("fit", raw / "half-0.parquet", "-o", tmp_path / "p.json", *scale, *MEMORY).done()
    weir("fit", raw / "half-1.parquet", "--fit-from", tmp_path / "p.json", "-o", tmp_path / "p.json", *MEMORY).done()
    want = scaler()
    for part in range(2):
        half = pq.read_table(raw / f"half-{part}.parquet")
        want.partial_fit(np.stack([half[name].to_numpy() for name in names], axis=1))
    got = params(tmp_path / "p.json")
    for i, name in enumerate(names):
        column = got[name]
        match rule:
            case "standard":
                pairs = [(column["center"], want.mean_[i]), (column["divisor"], want.scale_[i]), (column["std"] ** 2, want.var_[i])]
                assert column["count"] == np.broadcast_to(want.n_samples_seen_, len(names))[i]
            case "minmax":
                pairs = [(column["factor"], want.scale_[i]), (column["shift"], want.min_[i])]
                pairs += [(column["min"], want.data_min_[i]), (column["max"], want.data_max_[i])]
            case _:
                pairs = [(column["divisor"], want.scale_[i])]
        for value, right in pairs:
            assert value == pytest.approx(right, rel=1e-12, abs=0), name


def test_known_categories_keep_their_places(raw: Path, tmp_path: Path) -> None:
    weir("fit", raw / "half-0.parquet", "-o", tmp_path / "p.json", "--encode", "c=ordinal", *MEMORY).done()
    weir("fit", raw / "half-1.parquet", "--fit-from", tmp_path / "p.json", "-o", tmp_path / "q.json", *MEMORY).done()
    found = params(tmp_path / "q.json")["c"]["categories"]
    words = pq.read_table(raw)["c"].to_pylist()
    assert [(k["value"], k["count"]) for k in found] == [(w, words.count(w)) for w in ("green", "red", "amber", "blue")]
    few = weir("fit", raw / "half-1.parquet", "--fit-from", tmp_path / "q.json", "-o", "-", "--max-categories", "3", *MEMORY)
    assert few.code == 2 and 'column "c": the parameters have 4 categories, at most 3' in few.err


@pytest.mark.parametrize(
    ("rules", "others", "words"),
    [
        (["--scale", "f0=robust"], [], 'column "f0": robust: '),
        (["--impute", "g=median"], [], 'column "g": median: '),
        (["--impute", "g=most_frequent"], [], 'column "g": most_frequent: '),
        (["--encode", "c=onehot", "--max-categories", "1", "--other"], [], 'column "c": onehot: '),
        (["--scale", "f0=standard"], ["--scale", "f0=minmax"], 'column "f0": scale minmax is asked, the parameters are of standard'),
        (["--scale", "f0=standard"], ["--scale", "f*=standard"], 'column "f1": scale standard is asked, the parameters are of nothing'),
        (["--scale", "f0=standard"], ["--dtype", "float32"], "float32 is asked, the parameters are of float64"),
    ],
)
def test_what_cannot_go_on_is_refused_by_name(raw: Path, tmp_path: Path, rules: list[str], others: list[str], words: str) -> None:
    weir("fit", raw, "-o", tmp_path / "p.json", *rules, *MEMORY).done()
    for verb, out in (("fit", tmp_path / "q.json"), ("prepare", tmp_path / "out")):
        refused = weir(verb, raw, "--fit-from", tmp_path / "p.json", "-o", out, *others, *MEMORY)
        assert refused.code == 2 and words in refused.err
        assert not out.exists()


def test_a_preparation_goes_on_and_is_known_by_its_parameters(raw: Path, tmp_path: Path) -> None:
    weir("fit", raw / "half-0.parquet", "-o", tmp_path / "p.json", *RULES, *SPLIT, *MEMORY).done()
    again = ["prepare", raw / "half-1.parquet", "-o", f"{tmp_path}/out/", "--label", "y", "--fit-from", tmp_path / "p.json", *MEMORY]
    recipe = weir(*again, "--print-recipe").done().out
    assert yaml.safe_load(recipe)["fit_from"] == str(tmp_path / "p.json")
    weir(*again).done()
    weir("fit", raw / "half-1.parquet", "-o", tmp_path / "q.json", "--fit-from", tmp_path / "p.json", *SPLIT, *MEMORY).done()
    manifest = (tmp_path / "out" / "manifest.json").read_bytes()
    assert (tmp_path / "q.json").read_bytes().strip() in manifest
    (tmp_path / "recipe.yaml").write_bytes(recipe)
    weir("run", tmp_path / "recipe.yaml", "--force", "--quiet").done()
    assert (tmp_path / "out" / "manifest.json").read_bytes() == manifest
    weir("verify", tmp_path / "out").done()


def printed(*args: str | Path) -> Any:
    return yaml.safe_load(weir("prepare", *args, "--print-recipe").done().out)


def test_the_schema_accepts_recipes_and_refuses_broken_ones(tmp_path: Path) -> None:
    schema = json.loads(weir("run", "--schema").done().out)
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    out = ["raw/", "-o", "out/"]
    right = [
        printed(*out),
        printed(*out, "--fit-from", "p.json", "--memory", "50%", "--seed", "7", "--label", "y", "--keep", "id,*_id"),
        printed(*out, *RULES, *SPLIT, "--dtype", "float32", "--codec", "zstd:9", "--part-size", "1GiB", "--row-group", "64MiB"),
        printed(*out, "--split-by-range", "ts=2024-01-01,2024-02-01", "--encode", "c=hash:64", "--on-error", "skip", "--null", "NA"),
        printed(*out, "--impute", "a=constant:-1", "--scale", "b=clip:0:1", "--encode", "c=onehot", "--max-categories", "5", "--other"),
    ]
    for recipe in right:
        assert list(validator.iter_errors(recipe)) == []
    for broken in (
        {},
        {"read": {}},
        {"read": {"paths": []}},
        {"read": {"paths": "raw/"}, "fitfrom": "p.json"},
        {"read": {"paths": "raw/"}, "fit_from": ["p.json"]},
        {"read": {"paths": "raw/"}, "memory": "much"},
        {"read": {"paths": "raw/"}, "stages": [{"scale": {"f*": "standart"}}]},
        {"read": {"paths": "raw/"}, "stages": [{"encode": {"c": "hash"}}]},
        {"read": {"paths": "raw/"}, "write": {"path": "out/", "dtype": "float16"}},
    ):
        assert list(validator.iter_errors(broken)), broken
        (tmp_path / "recipe.yaml").write_text(yaml.safe_dump(broken))
        assert weir("run", tmp_path / "recipe.yaml").code == 2, broken
