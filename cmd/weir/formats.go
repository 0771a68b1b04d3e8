package main

import (
	"io"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	arrowformat "github.com/weir-data/weir/internal/format/arrow"
	"github.com/weir-data/weir/internal/format/csv"
	"github.com/weir-data/weir/internal/format/json"
	"github.com/weir-data/weir/internal/format/parquet"
	"github.com/weir-data/weir/internal/run"
)

// formats lists what weir reads; the first that recognises a file reads it.
func formats() []format.Format {
	return []format.Format{parquet.Format()}
}

// writers lists what --to writes.
var writers = map[string]run.NewWriter{
	"arrow": func(w io.Writer, s *arrow.Schema) (run.Writer, error) { return arrowformat.NewWriter(w, s) },
	"jsonl": func(w io.Writer, s *arrow.Schema) (run.Writer, error) { return json.NewWriter(w, s) },
	"csv":   func(w io.Writer, s *arrow.Schema) (run.Writer, error) { return csv.NewWriter(w, s) },
}
