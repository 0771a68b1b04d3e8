// Package recipe is what a run does, as a file that people write:
//
//	memory: 512MiB
//	label: target
//	read:
//	  paths: [s3://bucket/raw/]
//	split:
//	  into: {train: 80, val: 10, test: 10}
//	  by: [user_id]
//	stages:
//	  - impute: {age: median}
//	  - scale: {"f*": standard, price: robust}
//	  - encode: {country: onehot, device: hash:64}
//	    max_categories: 500
//	write:
//	  path: s3://bucket/prepared/
//	  dtype: float32
//
// or that of a corpus, with stages of its own:
//
//	seed: 7
//	read:
//	  paths: [corpus/]
//	stages:
//	  - dedup: {by: [text]}
//	  - tokenize: {tokenizer: tokenizer.json}
//	  - pack: {length: 8192}
//	  - shuffle: {}
//	write:
//	  path: train/
//
// One table, in keys.go, says which keys there are. Parse, Print and JSONSchema
// all follow it.
package recipe

import (
	"github.com/weir-data/weir/internal/stage/scale"
	"github.com/weir-data/weir/internal/stage/split"
)

// Recipe is a run. Zero values are the defaults.
type Recipe struct {
	Memory  string   // as --memory has it: 512MiB, 2GB, 50%; empty: from the container's limit
	Threads int      // 0: the CPUs this container may use
	Seed    uint64   // of all that is drawn at random
	Label   string   // the column that models learn
	Keep    []string // other columns, names or globs, that are passed through
	FitFrom string   // parameters, or a prepared directory, whose fit is continued; empty: none
	Read    Read
	Split   split.Config // its Seed is the Recipe's, which SplitConfig fills in
	Stages  []Stage
	Write   Write
	Scratch string // corpus: directory of scratch files; empty: beside the output
	// ScratchCodec is how rows in scratch files are compressed: none or zstd;
	// empty: zstd where disk is short.
	ScratchCodec string

	source *source // what it was parsed from, or nil
}

// Read says what is read and how; see format.Options.
type Read struct {
	Paths      []string
	Format     string // a name of cmd's list; empty: recognised
	Columns    []string
	Schema     string // a JSON file, as 'weir inspect --json' prints it
	Sample     string // a size, or all
	Field      string
	Delimiter  string // one character, or tab
	NoHeader   bool
	Nulls      []string // nil: the empty one; empty: none
	WholeFiles bool
	BatchSize  int
	OnError    string // skip; empty: fail
}

// Stage is one step between reading and writing.
type Stage struct {
	Name          string // a name of kinds: impute, scale, encode, dedup, tokenize, pack or shuffle
	Rules         []scale.Rule
	MaxCategories int  // encode; 0: scale's default
	Other         bool // encode

	// Of these the one that Name says is set, and for the stages of tables none.
	Dedup    *Dedup
	Tokenize *Tokenize
	Pack     *Pack
	Shuffle  *Shuffle
}

// Write says what is written and how; see format.WriteOptions.
type Write struct {
	Path     string
	Format   string // corpus: arrow or mds; empty: parquet
	Codec    string
	RowGroup Size
	PartSize Size
	Npy      bool
	Dtype    string // float32 or float64; empty: scale's default
}

// Size is a number of bytes.
type Size int64
