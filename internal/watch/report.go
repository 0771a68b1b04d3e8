package watch

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run"
)

// Text is a report for people.
func Text(r run.Report) string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-11s%s\n", name, fmt.Sprintf(format, args...))
	}
	groups := ""
	if r.Groups > 0 {
		groups = plural(r.Groups, "row group") + ", "
	}
	line("rows", "%s in %s, %s%s", group(r.Rows),
		plural(int64(r.Files), "file"), groups, plural(int64(r.Columns), "column"))
	if r.Skipped > 0 {
		line("skipped", "%s that could not be read", plural(r.Skipped, "record"))
	}
	line("data", "%s stored, %s in memory, %s",
		decimal(r.StoredBytes), decimal(r.MemoryBytes), plural(r.Batches, "batch"))
	line("time", "%s wall, %s CPU, %s", span(r.WallSeconds), span(r.CPUSeconds), plural(int64(r.Threads), "thread"))
	line("speed", "%s rows/s, %s MB/s in memory", group(int64(r.RowsPerSecond)), short(r.MBPerSecond))
	line("memory", "%s at most of --memory %s (%s of data leased of %s)", mem.Format(r.PeakMemory),
		mem.Format(r.MemoryLimit), mem.Format(r.BudgetPeak), mem.Format(r.BudgetLimit))
	line("waited", "decoding for the store %.0f%%, the consumer for decoding %.0f%%, decoding for the consumer %.0f%%",
		r.Waits.Store, r.Waits.Decode, r.Waits.Consumer)
	line("bottleneck", "%s", Bottleneck(r))
	if r.Digest != "" {
		line("digest", "%s", r.Digest)
	}
	return b.String()
}

func span(sec float64) string { return seconds(time.Duration(sec * float64(time.Second))) }

// Bottleneck says in one sentence what would have to be faster.
func Bottleneck(r run.Report) string {
	switch r.Bottleneck {
	case "consumer":
		return fmt.Sprintf("the consumer: it was busy %.0f%% of the time, faster reading would not help", 100-r.Waits.Decode)
	case "store":
		return fmt.Sprintf("the store: decoding waited for bytes %.0f%% of the time", r.Waits.Store)
	}
	return fmt.Sprintf("decoding: the consumer waited for it %.0f%% of the time; more --threads may help", r.Waits.Decode)
}

// JSON writes a report for programs.
func JSON(w io.Writer, r run.Report) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}
