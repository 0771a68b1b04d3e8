package watch

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/weir-data/weir/internal/format/schematext"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run"
)

// shownColumns is how many columns of a long schema are listed.
const shownColumns = 40

// Describe is a dataset's description for people; all lists every column.
func Describe(d run.Description, all bool) string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-16s%s\n", name, fmt.Sprintf(format, args...))
	}
	line("format", "%s", d.Format)
	unknown := d.Info.Rows < 0
	if unknown {
		line("rows", "not known before reading")
	} else {
		line("rows", "%s", group(d.Info.Rows))
	}
	line("files", "%s", group(int64(d.Info.Objects)))
	if d.Info.Groups > 0 {
		line("row groups", "%s", group(d.Info.Groups))
	}
	line("stored", "%s", decimal(d.Info.Bytes))
	if d.Info.InMemory > 0 || !unknown {
		line("in memory", "%s", decimal(d.Info.InMemory))
	}
	if d.Info.LargestIn > 0 {
		line("largest group", "%s in memory", decimal(d.Info.LargestIn))
	}
	line("smallest memory", "--memory %s", mem.Flag(d.Smallest))
	fields := d.Schema.Fields()
	line("columns", "%s", group(int64(len(fields))))
	width, shown := 0, len(fields)
	if !all {
		shown = min(shown, shownColumns)
	}
	for _, f := range fields[:shown] {
		width = max(width, min(len(f.Name), 40))
	}
	for _, f := range fields[:shown] {
		fmt.Fprintf(&b, "  %-*s  %s%s\n", width, f.Name, schematext.Type(f.Type), nullable(f.Nullable))
	}
	if left := len(fields) - shown; left > 0 {
		fmt.Fprintf(&b, "  … and %s more; --all lists them\n", group(int64(left)))
	}
	return b.String()
}

func nullable(yes bool) string {
	if yes {
		return ""
	}
	return " not null"
}

// description is the JSON form of run.Description.
type description struct {
	Format         string            `json:"format"`
	Rows           *int64            `json:"rows"` // null: not known before reading
	Files          int               `json:"files"`
	Groups         int64             `json:"row_groups"`
	StoredBytes    int64             `json:"stored_bytes"`
	MemoryBytes    int64             `json:"memory_bytes"`
	LargestGroup   int64             `json:"largest_group_memory_bytes"`
	SmallestMemory int64             `json:"smallest_memory"`
	Schema         schematext.Schema `json:"schema"` // as --schema takes it
}

// DescribeJSON writes a dataset's description for programs, with every column.
func DescribeJSON(w io.Writer, d run.Description) error {
	out := description{
		Format: d.Format, Files: d.Info.Objects, Groups: d.Info.Groups,
		StoredBytes: d.Info.Bytes, MemoryBytes: d.Info.InMemory, LargestGroup: d.Info.LargestIn,
		SmallestMemory: d.Smallest, Schema: schematext.Of(d.Schema),
	}
	if d.Info.Rows >= 0 {
		out.Rows = &d.Info.Rows
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false) // types are full of < and >
	return e.Encode(out)
}
