package main

import (
	"fmt"
	"strings"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/arrow"
	"github.com/weir-data/weir/internal/format/csv"
	"github.com/weir-data/weir/internal/format/image"
	"github.com/weir-data/weir/internal/format/json"
	"github.com/weir-data/weir/internal/format/mds"
	"github.com/weir-data/weir/internal/format/npy"
	"github.com/weir-data/weir/internal/format/parquet"
	"github.com/weir-data/weir/internal/format/tar"
	"github.com/weir-data/weir/internal/format/text"
	"github.com/weir-data/weir/internal/format/tfrecord"
)

// formats lists what weir reads; the first that recognises a file reads it.
// Those with a magic number stand first, those that go by the name last.
func formats() []format.Format {
	return []format.Format{
		parquet.Format(),
		arrow.Format(),
		npy.Format(),
		image.Format(),
		mds.Format(),
		tar.Format(),
		tfrecord.Format(),
		json.Format(),
		csv.Format(),
		text.Format(),
	}
}

// writers lists what --to writes.
func writers() []format.Writer {
	return []format.Writer{
		parquet.Writer(),
		arrow.Writer(),
		arrow.StreamWriter(),
		json.Writer(),
		csv.Writer(),
		mds.Writer(),
		tar.Writer(),
		npy.Writer(),
	}
}

// pickWriter finds the one that --to names. Arrow to a pipe is a stream, which
// can be read while it is written.
func pickWriter(all []format.Writer, to, output string) (format.Writer, error) {
	if to == "arrow" && (output == "-" || strings.HasSuffix(output, ".arrows")) {
		to = "arrow-stream"
	}
	for _, w := range all {
		if w.Name == to {
			return w, nil
		}
	}
	return format.Writer{}, fmt.Errorf("--to %q: use %s", to, format.OneOf(writerNames(all)))
}

func writerNames(all []format.Writer) (names []string) {
	for _, w := range all {
		names = append(names, w.Name)
	}
	return names
}

func formatNames(all []format.Format) (names []string) {
	for _, f := range all {
		names = append(names, f.Name)
	}
	return names
}
