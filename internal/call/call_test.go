package call

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"golang.org/x/sys/unix"

	"github.com/weir-data/weir/internal/mem"
)

// parent is a process that asks.
type parent struct {
	t      *testing.T
	slot   *os.File
	output *os.File
	lines  strings.Builder
}

func newParent(t *testing.T) *parent {
	t.Helper()
	p := &parent{t: t}
	for _, f := range []**os.File{&p.slot, &p.output} {
		var err error
		if *f, err = os.Create(filepath.Join(t.TempDir(), "file")); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { (*f).Close() })
	}
	return p
}

// fd is a descriptor of its own, which serve closes.
func (p *parent) fd(f *os.File) int {
	p.t.Helper()
	fd, err := unix.Dup(int(f.Fd()))
	if err != nil {
		p.t.Fatal(err)
	}
	return fd
}

func (p *parent) start(work map[string]any) {
	work["do"], work["version"], work["slots"], work["outputs"] = "start", Version, []int{p.fd(p.slot)}, []int{p.fd(p.output)}
	p.ask(work)
}

func (p *parent) ask(q map[string]any) {
	p.t.Helper()
	line, err := json.Marshal(q)
	if err != nil {
		p.t.Fatal(err)
	}
	p.lines.Write(line)
}

// rows puts texts into the slot.
func (p *parent) rows(texts ...string) {
	p.t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: "row", Type: arrow.BinaryTypes.LargeString}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	b.Field(0).(*array.LargeStringBuilder).AppendValues(texts, nil)
	var buf bytes.Buffer
	w := ipc.NewWriter(&buf, ipc.WithSchema(schema))
	if err := w.Write(b.NewRecordBatch()); err != nil {
		p.t.Fatal(err)
	}
	w.Close()
	if _, err := p.slot.WriteAt(buf.Bytes(), 0); err != nil {
		p.t.Fatal(err)
	}
	p.ask(map[string]any{"do": "rows", "slot": 0, "size": buf.Len(), "rows": len(texts)})
}

// answers serves, and holds that all memory came back.
func (p *parent) answers() []string {
	p.t.Helper()
	var budget *mem.Budget
	env := Env{
		Memory:  func(string) (int64, error) { return 64 << 20, nil },
		Setup:   func(n int64) *mem.Budget { budget = mem.New(n); return budget },
		Threads: func() int { return 2 },
		Kind:    func(error) string { return "some" },
	}
	var out bytes.Buffer
	if err := serve(p.t.Context(), strings.NewReader(p.lines.String()), &out, env); err != nil {
		p.t.Fatal(err)
	}
	if budget != nil && budget.Leased() != 0 {
		p.t.Errorf("%d bytes are leased at the end", budget.Leased())
	}
	return strings.Split(strings.TrimSpace(out.String()), "\n")
}

func TestRowsThatAreTheFirstOfTheirKindAreTold(t *testing.T) {
	p := newParent(t)
	p.start(map[string]any{"work": "rows", "sha": true, "distinct": true, "scratch": t.TempDir(), "expect": 5})
	p.rows("a", "b", "a", "", "b")
	p.ask(map[string]any{"do": "finish"})
	got := p.answers()
	if want := `{"rows":5,"from":160,"to":168,"id":0,"format":"","compression":""}`; got[2] != want {
		t.Fatalf("the answer is %s, not %s", got[2], want)
	}
	out, err := os.ReadFile(p.output.Name())
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte("b"))
	if hex.EncodeToString(out[32:64]) != hex.EncodeToString(sum[:]) || out[160] != 0b01011 {
		t.Errorf("hash %x, bits %b", out[32:64], out[160])
	}
}

func TestWhatCannotBeIsAnAnswer(t *testing.T) {
	for _, q := range []map[string]any{
		{"do": "rows", "slot": 7, "size": 10},
		{"do": "rows", "slot": 0, "size": 10},
		{"do": "rows", "slot": 0, "size": -1},
		{"do": "earlier", "slot": 0, "size": 33, "rows": 1},
		{"do": "earlier", "slot": 0, "size": 32},
		{"do": "texts", "slot": 0, "size": 4, "rows": 0},
		{"do": "texts", "slot": 0, "size": 4, "rows": 5},
		{"do": "texts", "slot": 0, "size": 4, "rows": 2},
		{"do": "texts", "slot": 0, "size": 1 << 39, "rows": 2},
		{"do": "encode"},
		{"do": "start", "version": Version},
	} {
		p := newParent(t)
		p.start(map[string]any{"work": "rows", "sha": true, "distinct": true, "scratch": t.TempDir()})
		p.ask(q)
		if got := p.answers(); len(got) != 2 || !strings.HasPrefix(got[1], `{"error":`) {
			t.Errorf("%s: answered %q", fmt.Sprint(q), got)
		}
	}
}

func TestAnotherVersionIsRefused(t *testing.T) {
	p := newParent(t)
	p.ask(map[string]any{"do": "start", "version": Version + 1})
	p.ask(map[string]any{"do": "finish"})
	got := p.answers()
	if !strings.Contains(got[0], "install the same version of both") || !strings.HasPrefix(got[1], `{"error":`) {
		t.Errorf("answered %q", got)
	}
}
