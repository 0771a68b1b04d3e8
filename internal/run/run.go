// Package run runs a reading in this process: it lists, recognises, plans,
// refuses what cannot fit, pulls batches into a Sink, and emits observations
// on the way and a Report at the end.
package run

import (
	"log/slog"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
)

// Config is one reading. Paths, Store, Formats and Budget must be given.
type Config struct {
	Paths   []string
	Options format.Options
	Store   store.Store
	Formats []format.Format
	// CacheLimit is the size of a dataset, in bytes, above which it is taken
	// out of the page cache behind the reader; 0: never.
	CacheLimit int64

	// Memory is the number the user gave for the whole process; Budget is
	// what Setup left of it for data.
	Memory int64
	Budget *mem.Budget
	// Heap measures what planning left on the Go heap, so that a schema of
	// 10,000 columns is paid for; nil: not measured. LiveHeap is the one.
	Heap func() int64

	// Format is the name of the one to read with; empty: files are
	// recognised.
	Format string
	// SkipBad leaves out records that cannot be read: they are counted, and
	// the first few are logged. Without it the first one ends the reading.
	SkipBad bool

	// Planned is what Open made of the same Config; nil: Scan plans.
	Planned *Reading
	// From is where the reading begins; the zero Cursor is the beginning.
	From stream.Cursor

	// Sink is where batches go; nil: they are touched and let go.
	Sink Target
	// Observe is called at most ten times a second, from one goroutine, while
	// batches flow; nil: nobody looks.
	Observe func(Observation)
	// Log gets one record a file; nil: none.
	Log *slog.Logger
}

// Observation is how far a reading is.
type Observation struct {
	Elapsed    time.Duration
	Rows       int64
	TotalRows  int64 // 0 or less: not known before the end
	Bytes      int64 // in memory, of the batches delivered
	TotalBytes int64 // the same as estimated from the descriptions; 0: not known
	Memory     int64 // bytes of this process now
	Limit      int64 // bytes it may have
}

// Report is what a reading was. Its JSON names are part of the interface.
type Report struct {
	Rows    int64 `json:"rows"`
	Skipped int64 `json:"skipped"` // records left out because they could not be read
	Batches int64 `json:"batches"`
	Files   int   `json:"files"`
	Groups  int64 `json:"row_groups"`
	Columns int   `json:"columns"`

	StoredBytes int64 `json:"stored_bytes"` // of the chosen columns, as they lie in the store
	MemoryBytes int64 `json:"memory_bytes"` // of the batches, as Arrow

	WallSeconds   float64 `json:"wall_seconds"` // listing and planning included
	PlanSeconds   float64 `json:"plan_seconds"` // listing and planning alone
	CPUSeconds    float64 `json:"cpu_seconds"`  // user and system, whole process, from its start
	RowsPerSecond float64 `json:"rows_per_second"`
	MBPerSecond   float64 `json:"mb_per_second"` // MemoryBytes by 10^6
	Threads       int     `json:"threads"`

	MemoryLimit int64 `json:"memory_limit"` // --memory
	PeakMemory  int64 `json:"peak_memory"`  // largest sample of anonymous and shared pages
	BudgetLimit int64 `json:"budget_limit"` // what --memory leaves for data
	BudgetPeak  int64 `json:"budget_peak"`  // most of it under lease when a batch arrived

	Waits      Waits  `json:"waits"`
	Bottleneck string `json:"bottleneck"` // "store", "decode" or "consumer"
	Digest     string `json:"digest,omitempty"`
}

// Waits says, in percent of the time batches flowed, who waited for whom.
type Waits struct {
	Store    float64 `json:"decode_for_store_percent"`
	Decode   float64 `json:"consumer_for_decode_percent"`
	Consumer float64 `json:"decode_for_consumer_percent"`
}

// Description is what is known of a dataset before its data is read.
type Description struct {
	Format   string
	Schema   *arrow.Schema
	Info     format.Info
	Smallest int64 // the least --memory that Scan accepts with the same options and a sink that needs none
}
