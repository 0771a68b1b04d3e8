package watch_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/run/prepare"
	"github.com/weir-data/weir/internal/stage/profile"
	"github.com/weir-data/weir/internal/stage/scale"
	"github.com/weir-data/weir/internal/watch"
)

func at(v float64) *float64 { return &v }

// numbers is a column of a profile.
func numbers(name string, count, nulls int64, mean, std, least, most float64) profile.Column {
	return profile.Column{Name: name, Type: arrow.PrimitiveTypes.Float32, Count: count, Nulls: nulls,
		Mean: &mean, Std: &std, Min: &least, Max: &most}
}

// preparation is one of three kinds of columns, with a name.
func preparation(name string) watch.Preparation {
	real := arrow.PrimitiveTypes.Float64
	in := arrow.NewSchema([]arrow.Field{{Name: "f0", Type: real}, {Name: name, Type: real, Nullable: true},
		{Name: "color", Type: arrow.BinaryTypes.String}, {Name: "note", Type: arrow.BinaryTypes.String}}, nil)
	small := arrow.PrimitiveTypes.Float32
	out := arrow.NewSchema([]arrow.Field{{Name: "f0", Type: small}, {Name: name, Type: small}, {Name: "color_blue", Type: small},
		{Name: "color_" + name, Type: small}, {Name: "note", Type: arrow.BinaryTypes.String}}, nil)
	after := []profile.Column{
		numbers("f0", 800, 0, 3.8e-11, 1, -3.25, 2.875), numbers(name, 800, 0, 0.5, 0.25, 0, 1),
		numbers("color_blue", 800, 0, 0.4, 0.49, 0, 1), numbers("color_"+name, 800, 0, 0.6, 0.49, 0, 1),
		{Name: "note", Type: arrow.BinaryTypes.String, Count: 700, Nulls: 100},
	}
	rep := prepare.Report{
		Fit: run.Report{Rows: 1000, WallSeconds: 0.25, RowsPerSecond: 4000, PeakMemory: 30 << 20, MemoryLimit: 64 << 20,
			Waits: run.Waits{Decode: 80, Store: 10}, Bottleneck: "decode"},
		Write: run.Report{Rows: 1000, WallSeconds: 0.5, RowsPerSecond: 2000, PeakMemory: 60 << 20, MemoryLimit: 64 << 20,
			Waits: run.Waits{Decode: 20, Store: 10}, Bottleneck: "consumer"},
		Splits: []dataset.Split{{Name: "train", Rows: 800, Parts: 2, Bytes: 80_000}, {Name: "val", Rows: 200, Parts: 1, Bytes: 20_000}},
		Params: &scale.Params{Rows: 800, Columns: []scale.Column{
			{Name: "f0", Scale: "standard", Count: 800, Mean: at(123_456.7), Std: at(2), Min: at(-1), Max: at(5e12)},
			{Name: name, Scale: "minmax", Impute: "mean", Count: 790, Nulls: 7, NaNs: 3, Mean: at(4), Std: at(1), Min: at(2), Max: at(6)},
			{Name: "color", Encode: "onehot", Count: 800},
		}},
		Look: prepare.Look{In: in, Out: out, Sources: []int{0, 1, 2, 2, 3}, Train: after, All: after,
			Before: []profile.Histogram{{Column: name, Min: 2, Max: 6, Lo: 2, Width: 1, Counts: []int64{10, 380, 390, 10}}},
			After:  []profile.Histogram{{Column: name, Min: 0, Max: 1, Lo: 0, Width: 0.25, Counts: []int64{10, 380, 400, 8}, Above: 2}}},
	}
	line := new(watch.Timeline)
	for i := range 8 {
		line.Observe(run.Observation{Elapsed: time.Duration(i%4) * 100 * time.Millisecond, Memory: int64(20+5*i) << 20})
	}
	p := watch.Prepare(rep, prepare.Config{Out: "prepared/", Version: "weir 1.2", Recipe: "label: y\n", Run: run.Config{Memory: 64 << 20}}, line)
	p.Ended = time.Date(2026, 3, 1, 12, 30, 0, 0, time.UTC)
	return p
}

func TestPreparationTexts(t *testing.T) {
	p := preparation("price")
	golden(t, "prepared.txt", p.Text())
	var b bytes.Buffer
	if err := p.JSON(&b); err != nil {
		t.Fatal(err)
	}
	golden(t, "prepared.json", b.String())
	var back watch.Preparation
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || !reflect.DeepEqual(back, p) {
		t.Errorf("read back: %v, %+v", err, back)
	}
}

func TestPreparationTextShortensLongTables(t *testing.T) {
	p := preparation("price")
	for i := range 40 {
		p.Columns = append(p.Columns, watch.Column{Name: fmt.Sprint("extra", i)})
	}
	text := p.Text()
	if n := strings.Count(text, "extra"); n != 16 || !strings.Contains(text, "… and 24 more") {
		t.Errorf("%d of 40 columns are listed:\n%s", n, text)
	}
}

// hostile is what a column's name may be.
const hostile = "</style></svg><script>alert(1)</script><img src=x onerror=\"alert('2')\">\x1b[31m\n{{.}}"

func TestNamesCannotHarmATerminal(t *testing.T) {
	p := preparation(hostile)
	if text := p.Text(); strings.ContainsRune(text, 0x1b) || strings.Count(text, "\n") != strings.Count(preparationText("x"), "\n") {
		t.Errorf("%q", text)
	}
}

func preparationText(name string) string {
	p := preparation(name)
	return p.Text()
}

// TestPageIsSafeAndNeedsNothing: names are text, nothing is loaded, nothing
// runs, and the page has the same elements whatever the names are.
func TestPageIsSafeAndNeedsNothing(t *testing.T) {
	plain, evil := elements(t, preparation("price"), "price"), elements(t, preparation(hostile), strings.TrimSuffix(hostile, "\n{{.}}"))
	if !reflect.DeepEqual(plain, evil) {
		t.Errorf("elements with a plain name %v, with a hostile one %v", plain, evil)
	}
	for tag, n := range map[string]int{"svg": 3, "rect": 8, "tbody": 6, "pre": 1} {
		if plain[tag] != n {
			t.Errorf("%d elements %s, want %d", plain[tag], tag, n)
		}
	}
}

func elements(t *testing.T, p watch.Preparation, name string) map[string]int {
	t.Helper()
	var b bytes.Buffer
	if err := p.HTML(&b); err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, tag := range tags.FindAllStringSubmatch(b.String(), -1) {
		count[tag[1]]++
		if loads.MatchString(tag[0]) {
			t.Errorf("%s", tag[0])
		}
	}
	for _, tag := range []string{"script", "link", "img", "iframe"} {
		if count[tag] > 0 {
			t.Errorf("the page has %d elements %s", count[tag], tag)
		}
	}
	if style, _, _ := strings.Cut(b.String(), "</style>"); strings.Contains(style, "url(") || strings.Contains(style, "@import") {
		t.Error("the style loads something")
	}
	if text := unescape.Replace(b.String()); !strings.Contains(text, name) {
		t.Errorf("%q is not on the page", name)
	}
	return count
}

var (
	// In what the template writes, < begins a tag and > ends it.
	tags     = regexp.MustCompile(`<([a-zA-Z]+)[^>]*>`)
	loads    = regexp.MustCompile(`\s(on\w+|src|href)=`)
	unescape = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&#34;", `"`, "&#39;", "'")
)

func TestPageOfNothingIsAPage(t *testing.T) {
	for _, p := range []watch.Preparation{{}, {Finished: true}, watch.Prepare(prepare.Report{}, prepare.Config{}, nil)} {
		var b bytes.Buffer
		if err := p.HTML(&b); err != nil || !strings.Contains(b.String(), "</html>") {
			t.Errorf("%v: %s", err, &b)
		}
	}
}

func TestTimelineKeepsPeaksInBoundedRoom(t *testing.T) {
	line := new(watch.Timeline)
	for i := range 20_000 {
		memory := int64(100)
		if i == 7001 || i == 13_333 {
			memory = int64(i)
		}
		// Two readings of ten thousand observations.
		line.Observe(run.Observation{Elapsed: time.Duration(i%10_000) * 100 * time.Millisecond, Memory: memory})
	}
	points := line.Points()
	if len(points) < 64 || len(points) > 256 {
		t.Errorf("%d points", len(points))
	}
	peaks := map[int64]float64{}
	for i, p := range points {
		if i > 0 && p.Seconds <= points[i-1].Seconds {
			t.Errorf("point %d at %v, the one before at %v", i, p.Seconds, points[i-1].Seconds)
		}
		if p.Bytes > 100 {
			peaks[p.Bytes] = p.Seconds
		}
	}
	for peak, sec := range map[int64]float64{7001: 700.1, 13_333: 999.9 + 333.3} {
		if d := peaks[peak] - sec; d < 0 || d > 20 {
			t.Errorf("the peak at %v s is shown at %v s", sec, peaks[peak])
		}
	}
	if passes := line.Passes(); len(passes) != 2 || passes[1] != 999.9 {
		t.Errorf("passes begin at %v", passes)
	}
}
