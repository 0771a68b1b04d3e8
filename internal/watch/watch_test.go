package watch_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/watch"
)

var update = flag.Bool("update", false, "rewrite testdata")

func golden(t *testing.T, file, got string) {
	t.Helper()
	file = "testdata/" + file
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got:\n%s", file, got)
	}
}

func TestReportTexts(t *testing.T) {
	r := run.Report{
		Rows: 2_000_000, Batches: 138, Files: 1, Groups: 16, Columns: 34,
		StoredBytes: 656_627_119, MemoryBytes: 544_000_000,
		WallSeconds: 0.612, PlanSeconds: 0.004, CPUSeconds: 0.5849, RowsPerSecond: 3_267_973.8, MBPerSecond: 888.9,
		Threads: 1, MemoryLimit: 64 << 20, PeakMemory: 58<<20 + 300<<10, BudgetLimit: 48 << 20, BudgetPeak: 41 << 20,
		Waits: run.Waits{Store: 4.4, Decode: 91.2}, Bottleneck: "decode",
	}
	var b strings.Builder
	b.WriteString(watch.Text(r))
	if err := watch.JSON(&b, r); err != nil {
		t.Fatal(err)
	}
	r.Bottleneck, r.Waits = "store", run.Waits{Store: 71, Decode: 97}
	r.Groups, r.Skipped = 0, 12_345
	r.Digest, r.WallSeconds, r.CPUSeconds = "a0631a1ad1b9f44b411141cbac3847df", 3725, 130
	b.WriteString("\n" + watch.Text(r))
	r.Bottleneck, r.Waits = "consumer", run.Waits{Decode: 3, Consumer: 88}
	b.WriteString("\n" + watch.Bottleneck(r) + "\n")
	golden(t, "report.txt", b.String())
}

func TestProgressLines(t *testing.T) {
	var b strings.Builder
	for _, o := range []run.Observation{
		{Limit: 64 << 20, Memory: 3 << 20, TotalRows: 1000},
		{Elapsed: 2 * time.Second, Rows: 1_250_000, TotalRows: 5_000_000, Bytes: 340e6, Memory: 58 << 20, Limit: 64 << 20},
		{Elapsed: 90 * time.Second, Rows: 10, TotalRows: 1000, Bytes: 340e6, Memory: 58 << 20, Limit: 64 << 20},
		{Elapsed: time.Second, Rows: 10, Bytes: 5e5, TotalBytes: 1e6, Memory: 58 << 20, Limit: 2 << 30},
		{Elapsed: time.Second, Rows: 10, Bytes: 5e5, Memory: 58 << 20, Limit: 2 << 30},
		{Elapsed: time.Second, Rows: 10, TotalRows: -1, Bytes: 5e5, Memory: 58 << 20, Limit: 2 << 30},
		{Elapsed: time.Second, Rows: 10, TotalRows: 10, Bytes: 5e9, Memory: 58 << 20, Limit: 2 << 30},
	} {
		fmt.Fprintln(&b, watch.Line(o))
	}
	golden(t, "progress.txt", b.String())
}

func TestProgressLineIsReplacedAndTakenAway(t *testing.T) {
	var out bytes.Buffer
	p := &watch.Progress{Out: &out, Width: func() int { return 20 }}
	p.Show(run.Observation{Rows: 1_000_000, Limit: 1 << 20})
	p.Show(run.Observation{Rows: 1, Limit: 1 << 20})
	p.Write([]byte("a log record\n"))
	p.Clear()
	// What a terminal shows: the last text written over each line.
	var shown []string
	for _, line := range strings.Split(out.String(), "\n") {
		parts := strings.Split(line, "\r")
		for _, part := range parts {
			if len(part) >= 20 {
				t.Errorf("%q does not fit 20 columns", part)
			}
		}
		shown = append(shown, strings.TrimRight(parts[len(parts)-1], " "))
	}
	if len(shown) != 2 || shown[0] != "a log record" || shown[1] != "" {
		t.Errorf("the terminal shows %q", shown)
	}
}

func TestDescribeShortensLongSchemas(t *testing.T) {
	var fields []arrow.Field
	for i := range 43 {
		fields = append(fields, arrow.Field{Name: fmt.Sprintf("column_%d", i), Type: arrow.ListOf(arrow.PrimitiveTypes.Float32), Nullable: i%2 == 0})
	}
	d := run.Description{Format: "parquet", Schema: arrow.NewSchema(fields, nil), Smallest: 25<<20 + 1,
		Info: format.Info{Objects: 1, Rows: 12_345_678, Groups: 100, Bytes: 1e9, InMemory: 25e8, LargestIn: 25e6}}
	golden(t, "describe.txt", watch.Describe(d, false))
	if n := strings.Count(watch.Describe(d, true), "column_"); n != 43 {
		t.Errorf("--all lists %d columns", n)
	}
}

func TestDescribeSaysWhatIsNotKnown(t *testing.T) {
	text := arrow.BinaryTypes.String
	d := run.Description{Format: "jsonl", Smallest: 25 << 20, Info: format.Info{Objects: 3, Rows: -1, Bytes: 1e9},
		Schema: arrow.NewSchema([]arrow.Field{
			{Name: "id", Type: arrow.PrimitiveTypes.Int64},
			{Name: "messages", Type: arrow.ListOf(arrow.StructOf(arrow.Field{Name: "role", Type: text, Nullable: true})), Nullable: true},
		}, nil)}
	var b strings.Builder
	b.WriteString(watch.Describe(d, false))
	if err := watch.DescribeJSON(&b, d); err != nil {
		t.Fatal(err)
	}
	golden(t, "unknown.txt", b.String())
}
