package parquet

import (
	"github.com/weir-data/weir/internal/format"
	writing "github.com/weir-data/weir/internal/format/parquet/write"
)

// Writer writes Parquet files that weir and others read back as they were.
func Writer() format.Writer {
	return format.Writer{Name: "parquet", Ext: ".parquet", Groups: true, Memory: writing.Memory, Begin: writing.Begin}
}
