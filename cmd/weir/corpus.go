package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/weir-data/weir/internal/recipe"
)

// corpusFlags are those that the commands of a corpus share.
type corpusFlags struct {
	readFlags
	cookFlags
	memory, output            string
	format                    string
	codec, rowGroup, partSize string
	scratch, scratchCodec     string
	seed                      uint64
	npy                       bool
	counts                    bool // without -o something is told too
}

func (f *corpusFlags) add(a *app, c *cobra.Command) {
	f.readFlags.add(c, a.formats)
	f.cookFlags.add(c)
	fl := c.Flags()
	fl.StringVar(&f.memory, "memory", "", "memory of the whole process (default from the container's limit)")
	fl.StringVarP(&f.output, "output", "o", "", "directory or s3:// prefix to write to")
	fl.StringVar(&f.format, "to", "", "write parquet, arrow or mds (default parquet)")
	fl.StringVar(&f.codec, "codec", "", "of the parts: none, snappy, gzip, brotli, lz4 or zstd (default snappy; mds: none)")
	fl.StringVar(&f.rowGroup, "row-group", "", "row groups of this size in memory (default a 16th of --memory, a 32nd below 128MiB; 1MiB to 16MiB)")
	fl.StringVar(&f.partSize, "part-size", "", "rows of this size in memory make a part (default 256MiB; of mds 64MiB, or an 8th of --memory)")
	fl.StringVar(&f.scratch, "scratch", "", "directory for what does not fit in memory (default DIR.scratch beside the output)")
	fl.StringVar(&f.scratchCodec, "scratch-codec", "", "of rows in scratch files: auto, none or zstd (default auto: zstd where they would not find room)")
	f.addPrint(c)
}

// npyHelp tells what --npy does.
const npyHelp = `--npy reads the parts back and writes every column as an array too, a matrix where
its rows are lists of one length: input_ids.npy, labels.npy and so on.`

func (f *corpusFlags) addNpy(c *cobra.Command) {
	c.Flags().BoolVar(&f.npy, "npy", false, "write arrays for NumPy beside the parts: input_ids.npy and so on")
}

// recipe is what the flags stand for, with these stages.
func (f *corpusFlags) recipe(paths []string, stages ...recipe.Stage) (*recipe.Recipe, error) {
	if f.check && f.output != "" {
		return nil, errors.New("--check writes nothing: leave -o out")
	}
	if f.output == "" && !f.counts && !f.check {
		return nil, errors.New("say where to write with -o DIR/")
	}
	r := &recipe.Recipe{
		Memory: f.memory, Threads: f.threads, Seed: f.seed, Scratch: f.scratch, Read: f.readFlags.recipe(paths),
		Stages: stages, Write: recipe.Write{Path: f.output, Codec: f.codec, Npy: f.npy},
	}
	if f.format != "parquet" {
		r.Write.Format = f.format
	}
	if f.scratchCodec != "auto" {
		r.ScratchCodec = f.scratchCodec
	}
	if err := sizes(&r.Write, f.rowGroup, f.partSize); err != nil {
		return nil, err
	}
	return r, r.Validate()
}

// command is one of a corpus: its stage is what the flags say.
func (a *app) command(c *cobra.Command, f *corpusFlags, stage func() recipe.Stage) *cobra.Command {
	c.Args = somePaths
	c.Long += "\n\n" + `A run that was killed goes on where it stopped when the same command is given
again, and writes the same bytes.

` + exitHelp
	c.RunE = func(c *cobra.Command, args []string) error {
		r, err := f.recipe(args, stage())
		if err != nil {
			return err
		}
		return a.printOrCook(c.Context(), r, &f.readFlags, &f.cookFlags)
	}
	f.add(a, c)
	return c
}

func (a *app) dedup() *cobra.Command {
	var f corpusFlags
	var d recipe.Dedup
	c := a.command(&cobra.Command{
		Use:   "dedup PATH... [-o DIR/]",
		Short: "Leave out rows that were there before",
		Long: `Dedup keeps the first of all rows that agree in the columns of --by, in the order
of the input. It keeps 16 bytes a row in memory; what does not fit goes to
scratch files, one after the other, without changing the answer. Without -o it only
counts.

--near 0.8 leaves out texts that are nearly the same too: those whose 5-word sequences
agree by about so much (MinHash), with --exact by no less. Of rows that are linked by
such pairs one is kept.

--save-hashes writes the keys of the rows that are kept to a file, 16 bytes each;
--against takes such files of earlier runs, whose rows count as seen.`,
		Example: `  weir dedup corpus/ --by text --show 20                    # how many, and which
  weir dedup corpus/ -o clean/ --by text --memory 512MiB
  weir dedup corpus/ -o clean/ --by text --near 0.8 --check --memory 512MiB
  weir dedup s3://bucket/corpus/ -o clean/ --by messages,system --normalize --memory 128MiB --scratch /data/scratch`,
	}, &f, func() recipe.Stage { return recipe.Stage{Name: "dedup", Dedup: &d} })
	fl := c.Flags()
	fl.StringSliceVar(&d.By, "by", nil, "columns that are compared, names or globs (default all)")
	fl.BoolVar(&d.Normalize, "normalize", false, "texts that differ in case, white space or Unicode form only are the same")
	fl.Var(keepFirst{}, "keep", "which of the rows that agree is kept: first")
	fl.StringSliceVar(&d.Against, "against", nil, "files of hashes of earlier runs: their rows count as seen")
	fl.StringVar(&d.SaveHashes, "save-hashes", "", "file for the hashes of the rows that are kept")
	fl.Float64Var(&d.Near, "near", 0, "texts of this Jaccard similarity and above are the same, as 0.8 (default only equal ones)")
	fl.IntVar(&d.Ngram, "ngram", 0, "with --near: words, or bytes, that are compared together (default 5)")
	fl.StringVar(&d.Unit, "unit", "", "with --near: word or byte (default word)")
	fl.BoolVar(&d.Check, "check", false, "with --near: compare signatures of what seems alike, which finds more and errs less")
	fl.BoolVar(&d.Exact, "exact", false, "with --near: compare all n-grams of what seems alike: no pair below the similarity counts")
	fl.IntVar(&f.show, "show", 0, "tell so many examples of what was left out")
	f.counts = true
	return c
}

func (a *app) tokenize() *cobra.Command {
	var f corpusFlags
	var t recipe.Tokenize
	c := a.command(&cobra.Command{
		Use:   "tokenize PATH... -o DIR/ --tokenizer FILE",
		Short: "Make tokens of texts and conversations",
		Long: `Tokenize reads a Hugging Face tokenizer.json and writes input_ids: the ids that the
tokenizers library gives, or an error that names what it cannot do in the same way.

With --chat, a column of messages goes through the chat template of the
tokenizer_config.json beside the tokenizer (or --template), and labels has -100
for all that the assistant did not write. --alpaca reads instruction, input and output.`,
		Example: `  weir tokenize clean/ -o tokens/ --tokenizer tokenizer.json --add-eos
  weir tokenize clean/ -o tokens/ --tokenizer model/tokenizer.json --chat messages --mask assistant --memory 512MiB
  weir tokenize clean/ --tokenizer tokenizer.json --check             # does every text come back from its tokens?`,
	}, &f, func() recipe.Stage { return recipe.Stage{Name: "tokenize", Tokenize: &t} })
	fl := c.Flags()
	fl.StringVar(&t.Tokenizer, "tokenizer", "", "a tokenizer.json")
	fl.StringVar(&t.Text, "text", "", "column of texts (default text)")
	fl.StringVar(&t.Chat, "chat", "", "column of messages: role and content")
	fl.BoolVar(&t.Alpaca, "alpaca", false, "columns instruction, input and output")
	fl.StringVar(&t.Tools, "tools", "", "column of tools, for --chat")
	fl.StringVar(&t.Template, "template", "", "a .jinja file or a tokenizer_config.json (default the one beside the tokenizer)")
	fl.StringVar(&t.TemplateName, "template-name", "", "which of several templates (default default)")
	fl.StringVar(&t.Date, "date", "", "the day that a template writes, as 2026-11-15; needed where it asks for one")
	fl.StringVar(&t.Mask, "mask", "", "labels: of the assistant alone, or none (default assistant with --chat and --alpaca, else none)")
	fl.BoolVar(&t.AddEOS, "add-eos", false, "put the end-of-sequence token behind every row")
	fl.BoolVar(&t.AddSpecial, "add-special", false, "add the tokens of the tokenizer's post-processor, such as <s>")
	fl.IntVar(&t.MaxLength, "max-length", 0, "cut rows behind so many tokens, and count them (default never)")
	fl.StringSliceVar(&t.Keep, "keep", nil, "columns to pass through, names or globs")
	fl.BoolVar(&f.check, "check", false, "write nothing: decode the tokens of every row again and count rows that come back different")
	return c
}

func (a *app) pack() *cobra.Command {
	var f corpusFlags
	var p recipe.Pack
	c := a.command(&cobra.Command{
		Use:   "pack PATH... -o DIR/ --length N",
		Short: "Put rows of tokens together in rows of one length",
		Long: `Pack makes rows of exactly --length tokens: input_ids, labels, position_ids that
begin at 0 in every document, and cu_seqlens, where documents begin and end. No
document is cut unless it alone is longer than a row; then as --long says.

` + npyHelp + `
There is none of cu_seqlens, whose rows differ in length.`,
		Example: `  weir pack tokens/ -o packed/ --length 8192
  weir pack tokens/ -o packed/ --length 8192 --to mds           # StreamingDataset(local="packed/")
  weir pack tokens/ -o packed/ --length 2048 --npy              # numpy.load("packed/input_ids.npy", mmap_mode="r")
  weir pack tokens/ -o packed/ --length 2048 --method concat --pad 0`,
	}, &f, func() recipe.Stage { return recipe.Stage{Name: "pack", Pack: &p} })
	fl := c.Flags()
	f.addNpy(c)
	fl.IntVar(&p.Length, "length", 0, "tokens of a row")
	fl.StringVar(&p.Method, "method", "", "best-fit, first-fit or concat (default best-fit)")
	fl.StringVar(&p.Long, "long", "", "documents above --length: split, truncate or drop (default split)")
	fl.IntVar(&p.Pad, "pad", 0, "the id that fills rows up")
	return c
}

func (a *app) shuffle() *cobra.Command {
	var f corpusFlags
	c := a.command(&cobra.Command{
		Use:   "shuffle PATH... -o DIR/",
		Short: "Put all rows in a random order",
		Long: `Shuffle makes one of all orders that the rows can have, each as likely as any
other: a function of the seed and the input alone. It reads and writes everything
twice, one after the other: rows go to scratch files by a random key, and each
file is put in order in memory.

` + npyHelp,
		Example: `  weir shuffle packed/ -o train/ --seed 7 --memory 512MiB`,
	}, &f, func() recipe.Stage { return recipe.Stage{Name: "shuffle", Shuffle: new(recipe.Shuffle)} })
	f.addNpy(c)
	c.Flags().Uint64Var(&f.seed, "seed", 0, "chooses one of all orders")
	return c
}

// keepFirst is a flag that has one value.
type keepFirst struct{}

func (keepFirst) String() string { return "first" }
func (keepFirst) Type() string   { return "string" }

func (keepFirst) Set(text string) error {
	if text != "first" {
		return errors.New("there is only first: the order of the rows stays, and one pass more would be needed for another")
	}
	return nil
}
