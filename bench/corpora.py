"""The passes over a corpus and the programs that do them: weir's commands, and scripts in passes/."""

from __future__ import annotations

from dataclasses import dataclass, replace

MEMORY = 512  # MiB for weir where nothing else is said
SMALL = 128  # MiB, the other budget
LENGTH = 4096  # tokens of a packed row
NEAR = ("--near", "0.8", "--ngram", "5")
WRITTEN = "{out}"  # in weir's arguments: the folder it writes to


@dataclass(frozen=True)
class Program:
    """One that does a pass: weir's arguments behind the path, with `script` empty, or a script with its environment and arguments.

    `data` is read instead of the pass's dataset; `needs` is what weir must have, a flag of its command or a name in its Python package.
    """

    script: str = ""
    environment: str = ""
    arguments: tuple[str, ...] = ()
    data: str = ""
    memory: int = MEMORY
    needs: str = ""


@dataclass(frozen=True)
class Pass:
    """One pass over a dataset, by programs that are compared; weir's first.

    `check` is how check_corpus.py reads what was written, nothing where nothing is; `tokenizer` names the one that is used.
    """

    label: str
    data: str
    programs: dict[str, Program]
    check: str = ""
    tokenizer: str = ""


def duck(what: str, *limits: str) -> dict[str, Program]:
    return {f"DuckDB {limit}": Program("duck", arguments=(what, limit)) for limit in limits}


def own(*arguments: str, budgets: tuple[int, ...] = (MEMORY,)) -> dict[str, Program]:
    """weir's command with a budget or several."""
    return {f"weir {budget}MiB": Program(arguments=arguments, memory=budget) for budget in budgets}


def tokenizing(tokenizer: str, language: str, *, tiktoken: bool) -> Pass:
    arguments = ("tokenize", "{data}", "-o", WRITTEN, "--tokenizer", "{tokenizer}")
    peers = {HF: Program("tokenize_hf", "corpus", ("{tokenizer}", "encode_batch"))}
    if tiktoken:
        peers[TIKTOKEN] = Program("tokenize_tiktoken", "corpus", ("{tokenizer}", tokenizer))
    return Pass(f"tokenize-{tokenizer}-{language}", language, own(*arguments) | peers, "ids", tokenizer)


HF, TIKTOKEN = "HF encode_batch", "tiktoken"
RENSA, RENSA_SHINGLES, RENSA_RHO = "rensa words", "rensa shingles", "rensa rho sketch of shingles"
DATASKETCH, DATATROVE = "datasketch", "datatrove"
LIST, SHA256, AXOLOTL_ROWS, WEIR_ROWS = "the list alone", "set of sha256", "fast-axolotl deduplicate_indices", "weir.deduplicate_indices"
PLAIN, TRL, AXOLOTL_PACK = "plain loop", "TRL best-fit", "fast-axolotl pack_sequences"
LANGUAGES = ("english", "code", "chinese", "mixed")
BYTE_LEVEL, OTHERS = ("gpt2", "llama3", "qwen3"), ("llama2", "gemma", "unigram")
DUCK_LIMITS = ("2GB", "512MB", "128MB")
BUDGETS = (MEMORY, SMALL)

ALONE = " packing alone"  # without reading and writing
PACKERS = {
    AXOLOTL_PACK: Program("pack_axolotl", "feed", data="documents-small"),
    PLAIN: Program("pack_plain", data="documents-small"),
    TRL: Program("pack_trl", "trl"),
}

DEDUP, DEDUP_WRITE, ROWS, NEAR_PASS, PACK, SHUFFLE = "dedup-count", "dedup-write", "dedup-python", "near", "pack", "shuffle"
PASSES = [
    Pass(DEDUP, "repeats", own("dedup", "{data}", budgets=BUDGETS) | duck("count", *DUCK_LIMITS)),
    Pass(DEDUP_WRITE, "repeats", own("dedup", "{data}", "-o", WRITTEN, budgets=BUDGETS) | duck("write", *DUCK_LIMITS), "texts"),
    Pass(
        ROWS,
        "repeats-4m",
        {
            WEIR_ROWS: Program("rows_weir", needs="deduplicate_indices"),
            AXOLOTL_ROWS: Program("rows_axolotl", "feed"),
            SHA256: Program("rows_sha256"),
            LIST: Program("rows_only"),
        },
    ),
    Pass(
        NEAR_PASS,
        "short-texts",
        {
            "weir 512MiB": Program(arguments=("dedup", "{data}", *NEAR), needs="--near"),
            RENSA: Program("near_rensa", "corpus"),
            RENSA_SHINGLES: Program("near_rensa", "corpus", ("shingles",)),
            RENSA_RHO: Program("near_rensa", "corpus", ("shingles", "rho")),
            DATASKETCH: Program("near_datasketch", "corpus", data="short-texts-small"),
            DATATROVE: Program("near_datatrove", "corpus", data="short-texts-small"),
        },
    ),
    *(tokenizing(name, language, tiktoken=True) for name in BYTE_LEVEL for language in LANGUAGES),
    *(tokenizing(name, language, tiktoken=False) for name in OTHERS for language in ("english", "chinese")),
    Pass(
        PACK,
        "documents",
        own("pack", "{data}", "-o", WRITTEN, "--length", str(LENGTH))
        | {f"{name}{suffix}": replace(how, arguments=(suffix,)) for suffix in ("", ALONE) for name, how in PACKERS.items()},
        "packed",
    ),
    Pass(
        SHUFFLE,
        "numeric",
        own("shuffle", "{data}", "-o", WRITTEN, "--seed", "7", budgets=(SMALL,)) | duck("shuffle", "512MB"),
        "numbers",
    ),
]
NAMES = list(dict.fromkeys(name for each in PASSES for name in each.programs if not name.startswith("weir")))
