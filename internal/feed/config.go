// Package feed is the child process of a loader in Python: it reads a dataset
// in the order that package order says, makes batches of it with package tensor,
// and hands them over with package wire.
//
// What it reads is the window of rows that the next batches are in, and while
// they are made of it, the window after that. Windows are read by several
// threads where the format lets them begin anywhere.
package feed

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/weir-data/weir/internal/feed/order"
	"github.com/weir-data/weir/internal/feed/tensor"
	"github.com/weir-data/weir/internal/format"
)

// Config is what the parent asks for, as JSON.
type Config struct {
	Mode    string   `json:"mode"` // scan, matrix or columns
	Sources []Source `json:"sources"`
	Read    Read     `json:"read"`
	Memory  string   `json:"memory"`
	Threads int      `json:"threads"`
	Buffer  int64    `json:"buffer"` // bytes of shared memory; 0: what suits the batches

	BatchSize int `json:"batch_size"`

	// Of scan and columns.
	Columns []string              `json:"columns"`
	Tensors bool                  `json:"tensors"`
	Pad     map[string]tensor.Pad `json:"pad"`

	// Of matrix.
	Features   []string `json:"features"`
	Label      string   `json:"label"`
	Dtype      string   `json:"dtype"`
	LabelDtype string   `json:"label_dtype"`

	// Of matrix and columns.
	Shuffle  bool   `json:"shuffle"`
	Global   bool   `json:"global"` // the order is that of weir shuffle, which the source must have
	Seed     uint64 `json:"seed"`
	Window   int64  `json:"window"` // bytes, as they lie in the store; 0: 64 MiB
	Rank     int    `json:"rank"`
	World    int    `json:"world"`
	Worker   int    `json:"worker"`
	Workers  int    `json:"workers"`
	DropLast bool   `json:"drop_last"`
	Samples  int64  `json:"samples"` // of an epoch of several sources; 0: all their rows
}

// Source is one dataset.
type Source struct {
	Paths  []string `json:"paths"`
	Split  string   `json:"split"`  // of a directory that weir prepare made, or a directory in it
	Weight float64  `json:"weight"` // among several sources; 0: 1
}

// Read is how formats are read; see format.Options.
type Read struct {
	Format     string   `json:"format"`
	Schema     string   `json:"schema"` // a file
	Sample     string   `json:"sample"`
	Field      string   `json:"field"`
	Delimiter  string   `json:"delimiter"`
	NoHeader   bool     `json:"no_header"`
	Nulls      []string `json:"nulls"`
	WholeFiles bool     `json:"whole_files"`
	OnError    string   `json:"on_error"`
}

// The modes.
const (
	scanning = "scan"
	matrix   = "matrix"
	columns  = "columns"
)

// parse reads a configuration; what cannot be is ErrUsage.
func parse(text []byte) (*Config, error) {
	c := &Config{DropLast: true}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(c); err != nil {
		return nil, format.Error(format.ErrUsage, "configuration: %w", err)
	}
	usage := func(text string, args ...any) error { return format.Error(format.ErrUsage, text, args...) }
	switch {
	case c.Mode != scanning && c.Mode != matrix && c.Mode != columns:
		return nil, usage("mode %q is not one of scan, matrix, columns", c.Mode)
	case len(c.Sources) == 0 || len(c.Sources[0].Paths) == 0:
		return nil, usage("name at least one file, directory, glob or s3:// prefix")
	case c.Mode == scanning && len(c.Sources) > 1:
		return nil, usage("a scan reads one source; several are mixed by a loader")
	case c.BatchSize < 1:
		return nil, usage("batch_size %d: a batch has at least one row", c.BatchSize)
	case c.Global && (len(c.Sources) > 1 || len(c.Sources[0].Paths) > 1):
		return nil, usage("shuffle=\"global\" plays one directory, these are several")
	case c.Threads < 0 || c.Buffer < 0 || c.Window < 0:
		return nil, usage("threads, buffer and window are not less than 0")
	}
	return c, c.share().Check()
}

func (c *Config) share() order.Share {
	return order.Share{Rank: c.Rank, World: c.World, Worker: c.Worker, Workers: c.Workers, Batch: c.BatchSize, Drop: c.DropLast}
}

// naturalWindow is the window where the order is the natural one: it only
// bounds what is read before the first batch.
const naturalWindow = 8 << 20

func (c *Config) order() order.Options {
	o := order.Options{Shuffle: c.Shuffle, Seed: c.Seed, Window: c.Window}
	if !c.Shuffle {
		o.Window = naturalWindow
	}
	return o
}

// spec is that of the matrix.
func (c *Config) spec() (tensor.Spec, error) {
	s := tensor.Spec{Features: c.Features, Label: c.Label}
	var err error
	if s.Dtype, err = tensor.ParseDtype(c.Dtype); err != nil {
		return s, err
	}
	if s.LabelDtype, err = tensor.ParseDtype(c.LabelDtype); err != nil {
		return s, fmt.Errorf("label_%w", err)
	}
	return s, nil
}
