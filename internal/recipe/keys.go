package recipe

import "math"

// key is one word of the language. T is what it is a key of.
type key[T any] struct {
	name string
	doc  string
	// at is where the value goes; its type decides what the value may be.
	at func(*T) any
	// keys are those of a section, which has no at.
	keys []key[T]

	need bool // the section makes no sense without it
	// one lists the words allowed. What follows a colon is a word's argument,
	// which it must have: hash:N.
	one []string
	// none is the word that is the default, and is not kept.
	none string
	// pattern is what a text must match, and like are examples.
	pattern, like string
	size          bool   // what matches pattern must be a number of bytes that exists
	min, max      int64  // of whole numbers; a fraction lies between, and is neither
	empty         bool   // a list may be empty
	of            family // whose recipes it is for
}

const (
	sizePattern   = `^[0-9]*\.?[0-9]+ ?([kKmMgGtT]([iI]?[bB])?|[kKmMgGtT][iI]|[bB])?$`
	memoryPattern = `^[0-9]*\.?[0-9]+ ?([kKmMgGtT]([iI]?[bB])?|[kKmMgGtT][iI]|[bB]|%)?$`
	samplePattern = `^(all|[0-9]*\.?[0-9]+ ?([kKmMgGtT]([iI]?[bB])?|[kKmMgGtT][iI]|[bB])?)$`
)

// top is the table: every key of a recipe but those of stages.
func top() []key[Recipe] {
	return []key[Recipe]{
		{name: "memory", at: func(r *Recipe) any { return &r.Memory }, pattern: memoryPattern, size: true, like: "512MiB, 2GB or 50%",
			doc: "memory of the whole process; default: from the container's limit"},
		{name: "threads", at: func(r *Recipe) any { return &r.Threads }, min: 1, max: 1 << 16,
			doc: "threads; default: the CPUs this container may use"},
		{name: "seed", at: func(r *Recipe) any { return &r.Seed }, doc: "seed of all that is drawn at random; default: 0"},
		{name: "label", at: func(r *Recipe) any { return &r.Label }, of: table, doc: "the column that models learn: it is passed through as it is"},
		{name: "keep", at: func(r *Recipe) any { return &r.Keep }, of: table, doc: "other columns, names or globs, that are passed through as they are"},
		{name: "fit_from", at: func(r *Recipe) any { return &r.FitFrom }, of: table,
			doc: "parameters, as 'weir fit' writes them, or a prepared directory: the fit continues theirs with the rows read; stages must be as they were, or none"},
		{name: "read", doc: "what to read", need: true, keys: []key[Recipe]{
			{name: "paths", at: func(r *Recipe) any { return &r.Read.Paths }, need: true, doc: "files, directories, globs or s3:// prefixes"},
			{name: "format", at: func(r *Recipe) any { return &r.Read.Format }, doc: "read the files as this format; default: recognised"},
			{name: "columns", at: func(r *Recipe) any { return &r.Read.Columns }, doc: "columns to read, names or globs, in this order; default: all"},
			{name: "schema", at: func(r *Recipe) any { return &r.Read.Schema }, doc: "JSON file with the columns and types of formats that have none of their own"},
			{name: "sample", at: func(r *Recipe) any { return &r.Read.Sample }, pattern: samplePattern, size: true, like: "64MiB or all", doc: "how much of each file to infer a schema from"},
			{name: "field", at: func(r *Recipe) any { return &r.Read.Field }, doc: "JSON documents: where the array of rows is, as data.items"},
			{name: "delimiter", at: func(r *Recipe) any { return &r.Read.Delimiter }, pattern: `^([ !#-~]|tab|\t)$`, like: `";", "|" or tab`, doc: "CSV: one character, or tab; default: guessed"},
			{name: "no_header", at: func(r *Recipe) any { return &r.Read.NoHeader }, doc: "CSV: the first row is data; columns are called c0, c1, …"},
			{name: "nulls", at: func(r *Recipe) any { return &r.Read.Nulls }, empty: true, doc: "CSV: words that are null where they have no quotes; default: the empty one"},
			{name: "whole_files", at: func(r *Recipe) any { return &r.Read.WholeFiles }, doc: "text: a row a file instead of a row a line"},
			{name: "batch_size", at: func(r *Recipe) any { return &r.Read.BatchSize }, min: 1, max: math.MaxInt32, doc: "most rows in a batch; default: as suits the budget"},
			{name: "on_error", at: func(r *Recipe) any { return &r.Read.OnError }, one: []string{"fail", "skip"}, none: "fail", doc: "records that cannot be read: fail, or skip and count them"},
		}},
		{name: "split", of: table, doc: "which rows are in which split", keys: []key[Recipe]{
			{name: "into", at: func(r *Recipe) any { return (*parts)(&r.Split) }, doc: "splits and their weights, or their names alone where something else decides; default: train: 80, val: 10, test: 10"},
			{name: "by", at: func(r *Recipe) any { return &r.Split.By }, doc: "columns whose values decide: rows that agree in them are in one split"},
			{name: "range", doc: "the order of a column decides", keys: []key[Recipe]{
				{name: "column", at: func(r *Recipe) any { return &r.Split.Range.Column }, need: true, doc: "a column of numbers, dates or timestamps"},
				{name: "bounds", at: func(r *Recipe) any { return &r.Split.Range.Bounds }, need: true, doc: "where each split but the first begins"},
			}},
			{name: "column", at: func(r *Recipe) any { return &r.Split.Column }, doc: "a column that holds the split's name"},
			{name: "from_dirs", at: func(r *Recipe) any { return &r.Split.FromDirs }, doc: "the directories that files lie in are called as the splits"},
			{name: "stratify", at: func(r *Recipe) any { return &r.Split.Stratify }, doc: "a label of which every value is divided in the proportions of the weights"},
		}},
		{name: "stages", at: func(r *Recipe) any { return &r.Stages }, doc: "what is done, in this order; the first rule that matches a column counts"},
		{name: "write", doc: "what to write", keys: []key[Recipe]{
			{name: "path", at: func(r *Recipe) any { return &r.Write.Path }, need: true, doc: "directory or s3:// prefix"},
			{name: "format", at: func(r *Recipe) any { return &r.Write.Format }, one: []string{"parquet", "arrow", "mds"}, none: "parquet", doc: "format of the parts; arrow and mds for a corpus"},
			{name: "codec", at: func(r *Recipe) any { return &r.Write.Codec }, one: codecs(), doc: "compression, with a level as zstd:9; default: snappy"},
			{name: "row_group", at: func(r *Recipe) any { return &r.Write.RowGroup }, doc: "size of a row group in memory, in the largest split; default: a 16th of the memory, 1MiB to 16MiB"},
			{name: "part_size", at: func(r *Recipe) any { return &r.Write.PartSize }, doc: "bytes of rows, of all splits together, that make a part of each; default: a 32nd of the source, 64MiB to 256MiB"},
			{name: "npy", at: func(r *Recipe) any { return &r.Write.Npy }, doc: "write X_train.npy, y_train.npy and so on too; of a corpus a file for each column, as input_ids.npy"},
			{name: "dtype", at: func(r *Recipe) any { return &r.Write.Dtype }, of: table, one: []string{"float32", "float64"}, doc: "type of the columns that stages make; default: float64"},
		}},
		{name: "scratch", at: func(r *Recipe) any { return &r.Scratch }, of: corpus, doc: "directory for scratch files; default: beside the output"},
		{name: "scratch_codec", at: func(r *Recipe) any { return &r.ScratchCodec }, of: corpus, one: []string{"auto", "none", "zstd"}, none: "auto",
			doc: "compression of the rows in scratch files; auto: zstd where they would not find room otherwise"},
	}
}

// codecs are the words for compression, with and without a level.
func codecs() []string {
	return []string{"none", "snappy", "gzip", "brotli", "lz4", "zstd", "gzip:LEVEL", "brotli:LEVEL", "zstd:LEVEL"}
}

// kind is a kind of stage. Those of tables have rules, a mapping of columns to
// one of words, and their options stand beside it; those of a corpus have no
// words, and their options stand under their name.
type kind struct {
	name, doc string
	words     []string
	keys      []key[Stage]
	options   func(*Stage) // makes room for those of a corpus
}

// fresh is a stage that says nothing yet.
func (k kind) fresh() Stage {
	s := Stage{Name: k.name}
	if k.options != nil {
		k.options(&s)
	}
	return s
}

// kinds lists the stages, in the order in which they work.
func kinds() []kind {
	return []kind{
		{name: "impute", doc: "fill nulls and NaN", words: []string{"mean", "median", "most_frequent", "constant:VALUE"}},
		{name: "scale", doc: "scale numbers", words: []string{"standard", "minmax", "maxabs", "robust", "log1p", "clip:LO:HI", "none"}},
		{name: "encode", doc: "make numbers of categories", words: []string{"onehot", "ordinal", "hash:N"}, keys: []key[Stage]{
			{name: "max_categories", at: func(s *Stage) any { return &s.MaxCategories }, min: 1, max: 1 << 24, doc: "most categories that a column may have; default: 1000"},
			{name: "other", at: func(s *Stage) any { return &s.Other }, doc: "the rarest categories above the bound become one, instead of an error"},
		}},
		{name: "dedup", doc: "leave out rows that are there already; the first is kept", options: func(s *Stage) { s.Dedup = &Dedup{} }, keys: dedupKeys()},
		{name: "tokenize", doc: "make token ids of texts", options: func(s *Stage) { s.Tokenize = &Tokenize{} }, keys: tokenizeKeys()},
		{name: "pack", doc: "make rows of one length of rows of tokens", options: func(s *Stage) { s.Pack = &Pack{} }, keys: []key[Stage]{
			{name: "length", at: func(s *Stage) any { return &s.Pack.Length }, need: true, min: 1, max: 1 << 24, doc: "tokens of a row"},
			{name: "method", at: func(s *Stage) any { return &s.Pack.Method }, one: []string{"best-fit", "first-fit", "concat"}, none: "best-fit",
				doc: "which documents share a row; concat cuts them where a row ends"},
			{name: "long", at: func(s *Stage) any { return &s.Pack.Long }, one: []string{"truncate", "split", "drop"}, none: "split", doc: "documents longer than a row"},
			{name: "pad", at: func(s *Stage) any { return &s.Pack.Pad }, max: math.MaxInt32, doc: "the id that fills rows up; default: 0"},
		}},
		{name: "shuffle", doc: "permute all rows, by the seed", options: func(s *Stage) { s.Shuffle = &Shuffle{} }},
	}
}

func dedupKeys() []key[Stage] {
	return []key[Stage]{
		{name: "by", at: func(s *Stage) any { return &s.Dedup.By }, doc: "columns that are compared; default: all"},
		{name: "normalize", at: func(s *Stage) any { return &s.Dedup.Normalize }, doc: "texts that differ in Unicode form, case or white space only count as equal"},
		{name: "against", at: func(s *Stage) any { return &s.Dedup.Against }, doc: "files of hashes that earlier runs saved: their rows count as seen"},
		{name: "save_hashes", at: func(s *Stage) any { return &s.Dedup.SaveHashes }, doc: "file for the hashes of this run's rows"},
		{name: "near", at: func(s *Stage) any { return &s.Dedup.Near }, min: 0, max: 1,
			doc: "near-duplicates too, by MinHash: the Jaccard similarity from which rows count as equal, as 0.8"},
		{name: "ngram", at: func(s *Stage) any { return &s.Dedup.Ngram }, min: 1, max: 1 << 10, doc: "near: words or bytes in a shingle; default: 5"},
		{name: "unit", at: func(s *Stage) any { return &s.Dedup.Unit }, one: []string{"word", "byte"}, none: "word", doc: "near: what shingles are made of"},
		{name: "check", at: func(s *Stage) any { return &s.Dedup.Check }, doc: "near: compare candidates once more, by their signatures; default: false"},
		{name: "exact", at: func(s *Stage) any { return &s.Dedup.Exact }, doc: "near: compare candidates by all their shingles: no pair below the similarity counts; default: false"},
	}
}

func tokenizeKeys() []key[Stage] {
	return []key[Stage]{
		{name: "tokenizer", at: func(s *Stage) any { return &s.Tokenize.Tokenizer }, need: true, doc: "a tokenizer.json"},
		{name: "text", at: func(s *Stage) any { return &s.Tokenize.Text }, doc: "a column of texts; default: text"},
		{name: "chat", at: func(s *Stage) any { return &s.Tokenize.Chat }, doc: "a column of messages, instead of texts"},
		{name: "alpaca", at: func(s *Stage) any { return &s.Tokenize.Alpaca }, doc: "the columns instruction, input and output, instead of texts"},
		{name: "tools", at: func(s *Stage) any { return &s.Tokenize.Tools }, doc: "chat: a column of tools"},
		{name: "template", at: func(s *Stage) any { return &s.Tokenize.Template },
			doc: "chat: a .jinja file or a tokenizer_config.json; default: the tokenizer_config.json beside the tokenizer"},
		{name: "template_name", at: func(s *Stage) any { return &s.Tokenize.TemplateName }, doc: "chat: which template, where there are several; default: default"},
		{name: "date", at: func(s *Stage) any { return &s.Tokenize.Date }, pattern: `^[0-9]{4}-[0-9]{2}-[0-9]{2}$`, like: "2026-11-15",
			doc: "chat: the day that a template writes, as 2026-11-15; needed where it asks for one"},
		{name: "mask", at: func(s *Stage) any { return &s.Tokenize.Mask }, one: []string{"assistant", "none"},
			doc: "assistant: labels are -100 outside the assistant's turns; default: assistant with chat and alpaca, else none"},
		{name: "add_eos", at: func(s *Stage) any { return &s.Tokenize.AddEOS }, doc: "end every row with the end-of-sequence token"},
		{name: "add_special", at: func(s *Stage) any { return &s.Tokenize.AddSpecial }, doc: "add the special tokens that the tokenizer's post-processor adds"},
		{name: "max_length", at: func(s *Stage) any { return &s.Tokenize.MaxLength }, max: 1 << 30, doc: "cut rows to this many tokens; default: 0, not at all"},
		{name: "keep", at: func(s *Stage) any { return &s.Tokenize.Keep }, doc: "columns that are passed through"},
	}
}
