"""What prepare finds and writes is what scikit-learn does, and what arithmetic without rounding does."""

from __future__ import annotations

import math
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.feature_extraction import FeatureHasher
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, OneHotEncoder, OrdinalEncoder, RobustScaler, StandardScaler

import exact
from prepared import columns, prepare, split

TRAIN, VAL = 1_500, 300
PARTS = ["train"] * TRAIN + ["val"] * VAL
SPLIT = ["--split-column", "part", "--split", "train,val"]
SCALERS = {"standard": StandardScaler, "minmax": MinMaxScaler, "maxabs": MaxAbsScaler, "robust": RobustScaler}
IMPUTERS = {
    "mean": {"strategy": "mean"},
    "median": {"strategy": "median"},
    "most_frequent": {"strategy": "most_frequent"},
    "constant:-2.5": {"strategy": "constant", "fill_value": -2.5},
}
CLOSE = {"float32": 1e-6, "float64": 1e-12}
EPSILON = 2.0**-52


def gaps(rng: np.random.Generator, values: np.ndarray, share: float) -> np.ndarray:
    return np.where(rng.random(len(values)) < share, np.nan, values)


@cache
def numbers() -> dict[str, np.ndarray]:
    """Columns as float64, NaN where they are null or NaN."""
    rng = np.random.default_rng(5)
    n = TRAIN + VAL
    normal = rng.standard_normal
    one = np.full(n, np.nan)
    one[7] = 3.5
    late = np.full(n, np.nan)
    late[TRAIN:] = 1.0
    return {
        "plain": normal(n),
        "whole": rng.integers(-5, 6, n).astype(float),
        "offset": 1e12 + 1e3 * normal(n),
        "offset_one": 1e12 + normal(n),
        "offset_flat": 1e12 + 0.1 * normal(n),
        "offset_down": -1e12 + 50 * normal(n),
        "large": 1e150 * normal(n),
        "small": 1e-150 * normal(n),
        "denormal": 5e-324 * rng.integers(1, 1000, n),
        "denormal_and_one": np.where(rng.random(n) < 0.5, 5e-324, 1.0),
        "wide": normal(n) * 10.0 ** rng.integers(-10, 10, n),
        "outlier": np.where(np.arange(n) == 11, 1e15, normal(n)),
        "skewed": np.exp(2 * normal(n)),
        "constant": np.full(n, 7.3),
        "constant_far": np.full(n, 1e12 + 0.1),
        "zeros": np.where(rng.random(n) < 0.5, 0.0, -0.0),
        "gaps": gaps(rng, normal(n), 0.3),
        "gaps_offset": gaps(rng, 1e12 + 100 * normal(n), 0.3),
        "gaps_whole": gaps(rng, rng.integers(0, 9, n).astype(float), 0.3),
        "missing": np.full(n, np.nan),
        "one": one,
        "late": late,
    }


def narrow(name: str, values: np.ndarray) -> pa.Array:
    """Half of the missing values as null, the others as NaN."""
    null = np.isnan(values) & (np.arange(len(values)) % 2 == 0)
    if name == "missing":
        null[:] = True
    return pa.array(values, mask=null)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("numbers") / "numbers.parquet"
    pq.write_table(pa.table({"part": PARTS} | {k: narrow(k, v) for k, v in numbers().items()}), path, row_group_size=700)
    return path


def near(got: float | None, want: float, close: float = 1e-9) -> bool:
    """Within a relative distance; what is unknown is None or NaN."""
    if got is None or math.isnan(got) or math.isnan(want):
        return (got is None or math.isnan(got)) and math.isnan(want)
    return math.isclose(got, want, rel_tol=close, abs_tol=5e-324)


def inherent(values: np.ndarray, divisor: float) -> float:
    """What rounding the center, or the product, to a float64 costs: a few of its last places, in the scale of the output."""
    return 2 * EPSILON * float(np.nanmax(np.abs(values), initial=0)) / divisor


def apart(got: np.ndarray, want: np.ndarray, slack: float, close: float) -> list[int]:
    """Rows in which two outputs are not the same."""
    bound = close * np.maximum(1, np.abs(want)) + slack
    with np.errstate(invalid="ignore"):
        same = (np.isnan(got) & np.isnan(want)) | (np.abs(got - want) <= bound)
    return [int(i) for i in np.flatnonzero(~same)]


@cache
def imputed(rule: str) -> tuple[dict[str, np.ndarray], dict[str, float]]:
    """The columns as scikit-learn fills them, and with what."""
    if rule == "none":
        return numbers(), {}
    imputer = SimpleImputer(**IMPUTERS[rule], keep_empty_features=True)
    rows = np.column_stack(list(numbers().values()))
    filled = imputer.fit(rows[:TRAIN]).transform(rows)
    return dict(zip(numbers(), filled.T, strict=True)), dict(zip(numbers(), imputer.statistics_, strict=True))


@cache
def truth(impute: str, scale: str, name: str, fill: float, flat: bool) -> np.ndarray:
    """A column filled and scaled without rounding."""
    values = numbers()[name]
    if impute != "none":
        values = np.where(np.isnan(values), fill, values)
    train = values[:TRAIN][~np.isnan(values[:TRAIN])]
    if len(train) == 0:
        return np.full(len(values), np.nan)
    return np.array(exact.scaled(values, scale, train, flat))


def written(out: Path, name: str) -> np.ndarray:
    return np.concatenate([split(out, part)[name].to_numpy() for part in ("train", "val")]).astype(float)


@pytest.mark.parametrize("dtype", CLOSE)
@pytest.mark.parametrize("impute", ["none", *IMPUTERS])
@pytest.mark.parametrize("scale", SCALERS)
def test_scaled_numbers_are_those_of_scikit_learn(source: Path, tmp_path: Path, scale: str, impute: str, dtype: str) -> None:
    rules = ["--keep", "part", "--scale", f"*={scale}", "--dtype", dtype] + (["--impute", f"*={impute}"] if impute != "none" else [])
    prepare(source, tmp_path / "out", *SPLIT, *rules, "--memory", "192MiB").done()
    found = columns(tmp_path / "out")
    filled, fills = imputed(impute)
    for name, values in filled.items():
        column = values[:, None]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of columns without a value
            theirs = SCALERS[scale]().fit(column[:TRAIN])
            want = theirs.transform(column)[:, 0]
        params = found[name]
        if impute != "none":
            assert near(params["fill"], fills[name], 1e-9 if impute == "mean" else 0), (name, params["fill"], fills[name])
        divisor = float(theirs.scale_[0])
        if scale == "minmax":
            assert near(params.get("factor"), divisor), name
            assert near(params.get("shift"), float(theirs.min_[0])), name
            divisor = 1 / divisor
        else:
            assert near(params.get("divisor"), divisor), (name, params.get("divisor"), divisor)
        if scale == "standard":
            assert near(params.get("center"), float(theirs.mean_[0])), (name, params.get("center"), theirs.mean_[0])
        if scale == "robust":
            assert near(params.get("center"), float(theirs.center_[0])), name
            assert params.get("quantiles", {"method": "exact"})["method"] == "exact"
        got = written(tmp_path / "out", name)
        slack = 0.0 if math.isnan(divisor) else inherent(values, divisor)
        right = truth(impute, scale, name, params.get("fill", math.nan), divisor == 1.0)
        wrong = apart(got, right, slack, CLOSE[dtype])
        assert wrong == [], f"{name}: {len(wrong)} rows, as row {wrong[0]}: {got[wrong[0]]}, exactly {right[wrong[0]]}"
        other = apart(got, want, 2 * slack, CLOSE[dtype])
        assert other == [], f"{name}: {len(other)} rows, as row {other[0]}: {got[other[0]]}, scikit-learn {want[other[0]]}"


def test_means_and_deviations_are_exact(source: Path, tmp_path: Path) -> None:
    """As exact as sums of a block of rows are: a few last places of the largest value."""
    prepare(source, tmp_path / "out", *SPLIT, "--keep", "part", "--scale", "*=standard").done()
    for name, params in columns(tmp_path / "out").items():
        train = [v for v in numbers()[name][:TRAIN] if not math.isnan(v)]
        assert params["count"] == len(train)
        assert params["nulls"] + params["nans"] == TRAIN - len(train)
        if train:
            assert abs(params["mean"] - exact.mean(train)) <= 4 * EPSILON * max(map(abs, train)), name
            assert near(params["std"], exact.deviation(train), 1e-12), (name, params["std"], exact.deviation(train))
            assert (params["min"], params["max"]) == (min(train), max(train))


def few(tmp_path: Path, values: dict[str, list[float | None]], train: int, *rules: str) -> Path:
    """A preparation of columns of a few rows, the first of them train."""
    rows = len(next(iter(values.values())))
    parts = ["train"] * train + ["val"] * (rows - train)
    pq.write_table(pa.table({"part": parts} | {k: pa.array(v, pa.float64()) for k, v in values.items()}), tmp_path / "few.parquet")
    prepare(tmp_path / "few.parquet", tmp_path / "out", *SPLIT, "--keep", "part", *rules).done()
    return tmp_path / "out"


@pytest.mark.parametrize("scale", SCALERS)
def test_one_row_is_enough(tmp_path: Path, scale: str) -> None:
    values: dict[str, list[float | None]] = {"a": [3.0, 4.0], "b": [1e12, 1e12 + 1], "c": [None, 1.0], "d": [0.0, -1.0]}
    out = few(tmp_path, values, 1, "--scale", f"*={scale}")
    for name, column in values.items():
        rows = np.array(column, dtype=float)[:, None]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            want = SCALERS[scale]().fit(rows[:1]).transform(rows)[:, 0]
        np.testing.assert_allclose(written(out, name), want, rtol=1e-12, atol=0)


def test_no_row_to_fit_on_is_an_error(tmp_path: Path) -> None:
    pq.write_table(pa.table({"part": ["val"] * 3, "x": [1.0, 2.0, 3.0]}), tmp_path / "rows.parquet")
    result = prepare(tmp_path / "rows.parquet", tmp_path / "out", *SPLIT, "--keep", "part", "--scale", "x=standard")
    assert (result.code, result.out) == (4, b"")
    assert "there are no rows to fit on" in result.err
    assert not (tmp_path / "out" / "manifest.json").exists()


@pytest.mark.parametrize("where", ["train", "val"])
@pytest.mark.parametrize("value", [math.inf, -math.inf])
@pytest.mark.parametrize("rule", [f"--scale=odd={s}" for s in SCALERS] + [f"--impute=odd={i}" for i in IMPUTERS])
def test_infinity_is_refused_with_its_column(tmp_path: Path, rule: str, value: float, where: str) -> None:
    parts = np.array(["train", "val"] * 50)
    odd = np.linspace(0, 1, 100)
    odd[np.flatnonzero(parts == where)[20]] = value
    name = rule.rpartition("=")[2]
    theirs = SCALERS[name]() if name in SCALERS else SimpleImputer(**IMPUTERS[name])
    with pytest.raises(ValueError, match="infinity"):
        theirs.fit_transform(odd[:, None])
    pq.write_table(pa.table({"part": parts, "even": np.ones(100), "odd": odd}), tmp_path / "rows.parquet")
    result = prepare(tmp_path / "rows.parquet", tmp_path / "out", *SPLIT, "--keep", "part,even", rule)
    assert result.code == 4, result.err
    assert '"odd"' in result.err and "nf" in result.err, result.err
    assert not (tmp_path / "out" / "manifest.json").exists()


@pytest.mark.parametrize(("scale", "word"), [("standard", "variance"), ("minmax", "range"), ("robust", "quartiles")])
def test_what_is_beyond_float64_is_refused_with_its_column(tmp_path: Path, scale: str, word: str) -> None:
    """Where scikit-learn makes NaN and zeros of it."""
    x = np.array([-1.7e308, 1.7e308] * 50)
    pq.write_table(pa.table({"part": ["train"] * 100, "x": x}), tmp_path / "rows.parquet")
    result = prepare(tmp_path / "rows.parquet", tmp_path / "out", *SPLIT, "--keep", "part", "--scale", f"x={scale}")
    assert result.code == 4 and '"x"' in result.err and word in result.err, result.err


def test_a_sketch_keeps_the_rank_error_it_states(tmp_path: Path) -> None:
    """Values that do not fit the memory."""
    rng = np.random.default_rng(9)
    rows, width = 300_000, 24
    normal = rng.standard_normal(rows)
    shapes = [normal, np.exp(3 * rng.standard_normal(rows)), np.sort(rng.random(rows)), np.round(normal)]
    table = pa.table({f"x{i:02d}": shapes[i % 4] + (i // 4) * 1e6 for i in range(width)})
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=50_000, compression="none", use_dictionary=False)
    rules = ["--memory", "96MiB", "--split", "train=1", "--scale", "*=robust", "--dtype", "float32"]
    prepare(tmp_path / "rows.parquet", tmp_path / "out", *rules).done()
    sketched = 0
    for name, params in columns(tmp_path / "out").items():
        quantiles = params["quantiles"]
        sketched += quantiles["method"] == "sketch"
        assert 0 < quantiles["rank_error"] < 0.01 or quantiles == quantiles | {"method": "exact", "rank_error": 0}
        ranked = np.sort(table[name].to_numpy())
        for part, key in ((0.25, "q25"), (0.5, "q50"), (0.75, "q75")):
            low, high = np.searchsorted(ranked, quantiles[key], "left") / rows, np.searchsorted(ranked, quantiles[key], "right") / rows
            assert low - quantiles["rank_error"] <= part <= high + quantiles["rank_error"], (name, key, quantiles)
    assert sketched > 0


WORDS = ["", "a", "Zoë", "blue", "日本", "a b", "naïve", "0", "red\n", "𝄞"]


def choices(rng: np.random.Generator, values: list, unknown: list, nulls: float) -> list:
    """Values of train, and in val unknown ones among them; some missing."""
    picked = [values[i] for i in rng.integers(0, len(values), TRAIN)]
    picked += [(values + unknown)[i] for i in rng.integers(0, len(values + unknown), VAL)]
    return [None if rng.random() < nulls else v for v in picked]


@pytest.fixture(scope="module")
def categories(tmp_path_factory: pytest.TempPathFactory) -> pa.Table:
    rng = np.random.default_rng(11)
    words = [str(w) for w in WORDS]
    table = pa.table(
        {
            "part": PARTS,
            "words": choices(rng, words, ["new", "zz"], 0),
            "gaps": choices(rng, words, ["new"], 0.2),
            "gone": pa.array([None] * (TRAIN + VAL), pa.string()),
            "late": pa.array([None] * TRAIN + ["x"] * VAL),
            "whole": choices(rng, [-10, -9, 0, 3, 20, 100], [7], 0),
            "real": choices(rng, [-1.5, 0.1, 1e300, 2.0], [3.25], 0.2),
            "truth": choices(rng, [True, False], [], 0),
            "dictionary": pa.array(choices(rng, words, ["new"], 0.2)).dictionary_encode(),
        }
    )
    path = tmp_path_factory.mktemp("categories") / "rows.parquet"
    pq.write_table(table, path, row_group_size=500)
    return table.append_column("path", pa.array([str(path)] * len(table)))


def objects(table: pa.Table, name: str) -> np.ndarray:
    """A column as scikit-learn takes it; what is missing is NaN among numbers, None among words."""
    column = table[name].combine_chunks()
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_floating(column.type):
        return column.to_numpy(zero_copy_only=False)[:, None]
    return np.array(column.to_pylist(), dtype=object)[:, None]


def names(table: pa.Table) -> list[str]:
    return [name for name in table.column_names if name not in ("part", "path")]


@pytest.mark.parametrize("dtype", CLOSE)
def test_one_hot_columns_are_those_of_scikit_learn(categories: pa.Table, tmp_path: Path, dtype: str) -> None:
    rules = ["--encode", ",".join(f"{n}=onehot" for n in names(categories)), "--dtype", dtype]
    prepare(categories["path"][0].as_py(), tmp_path / "out", *SPLIT, *rules).done()
    train, val = split(tmp_path / "out", "train"), split(tmp_path / "out", "val")
    for name in names(categories):
        rows = objects(categories, name)
        encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit(rows[:TRAIN])
        want = encoder.transform(rows)
        made = [c for c in train.column_names if c.startswith(name + "_")]
        got = np.vstack([np.column_stack([t[c].to_numpy() for c in made]) for t in (train, val)])
        assert got.dtype == dtype
        assert np.array_equal(got, want), name
        if all(isinstance(v, str) for v in encoder.categories_[0]):
            assert made == list(encoder.get_feature_names_out([name]))
        assert (want[TRAIN:].sum(axis=1) == 0).any() == (name in ("words", "gaps", "late", "whole", "real", "dictionary")), name


@pytest.mark.parametrize("dtype", CLOSE)
def test_ordinal_codes_are_those_of_scikit_learn(categories: pa.Table, tmp_path: Path, dtype: str) -> None:
    rules = ["--encode", ",".join(f"{n}=ordinal" for n in names(categories)), "--dtype", dtype]
    prepare(categories["path"][0].as_py(), tmp_path / "out", *SPLIT, *rules).done()
    for name in names(categories):
        rows = objects(categories, name)
        rows = np.array([[math.nan if v is None else v] for v in rows[:, 0]], dtype=rows.dtype)  # None would get a code of its own
        encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
        want = encoder.fit(rows[:TRAIN]).transform(rows)[:, 0]
        assert np.array_equal(written(tmp_path / "out", name), want, equal_nan=True), name


@pytest.mark.parametrize("width", [1, 2, 7, 64])
def test_hashed_categories_are_those_of_scikit_learn(categories: pa.Table, tmp_path: Path, width: int) -> None:
    texts = ["words", "gaps", "gone", "dictionary"]
    rules = ["--columns", "part," + ",".join(texts), "--encode", ",".join(f"{n}=hash:{width}" for n in texts), "--dtype", "float32"]
    prepare(categories["path"][0].as_py(), tmp_path / "out", *SPLIT, *rules).done()
    rows = pa.concat_tables([split(tmp_path / "out", part) for part in ("train", "val")])
    hasher = FeatureHasher(n_features=width, input_type="string")
    for name in texts:
        want = hasher.transform([] if v is None else [v] for v in objects(categories, name)[:, 0]).toarray()
        got = np.column_stack([rows[f"{name}_{k}"].to_numpy() for k in range(width)])
        assert np.array_equal(got, want), name


@pytest.mark.parametrize("rule", ["most_frequent", "constant:blue"])
def test_categories_are_filled_before_they_are_encoded(categories: pa.Table, tmp_path: Path, rule: str) -> None:
    texts = ["words", "gaps", "dictionary"]
    rules = ["--columns", "part," + ",".join(texts), "--encode", "words=onehot,gaps=onehot,dictionary=ordinal", "--impute", f"*={rule}"]
    prepare(categories["path"][0].as_py(), tmp_path / "out", *SPLIT, "--keep", "part", *rules).done()
    train, val = split(tmp_path / "out", "train"), split(tmp_path / "out", "val")
    strategy = {"strategy": "most_frequent"} if rule == "most_frequent" else {"strategy": "constant", "fill_value": "blue"}
    for name in texts:
        rows = objects(categories, name)
        filled = SimpleImputer(missing_values=None, **strategy).fit(rows[:TRAIN])
        rows = filled.transform(rows)
        if name == "dictionary":
            encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
        else:
            encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        want = encoder.fit(rows[:TRAIN]).transform(rows)
        made = [c for c in train.column_names if c == name or c.startswith(name + "_")]
        got = np.vstack([np.column_stack([t[c].to_numpy() for c in made]) for t in (train, val)])
        assert np.array_equal(got, want), name


@pytest.mark.parametrize("pieces", [1, 2, 7, 1000])
def test_the_parameters_do_not_depend_on_how_rows_come(source: Path, tmp_path: Path, pieces: int) -> None:
    rules = [*SPLIT, "--keep", "part", "--scale", "gaps=robust,*=standard", "--impute", "gaps*=median"]
    prepare(source, tmp_path / "want", *rules, "--threads", "1").done()
    rows = str(max(1, (TRAIN + VAL) // pieces))
    prepare(source, tmp_path / "got", *rules, "--threads", "2", "--batch-size", rows).done()
    assert columns(tmp_path / "got") == columns(tmp_path / "want")
