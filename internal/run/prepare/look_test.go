package prepare_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/weir-data/weir/internal/run/prepare"
)

// looked runs a preparation, ended at the nth batch and then taken up if n > 0,
// and says what was looked at.
func looked(t *testing.T, in, out string, n int) prepare.Report {
	t.Helper()
	c := config(in, out)
	c.Shapes = true
	c.Run.Options.BatchRows = 900
	if n > 0 {
		ended := c
		ended.Run.Formats = nil
		for _, f := range formats() {
			ended.Run.Formats = append(ended.Run.Formats, cut(f, &n, errors.New("gone")))
		}
		if _, err := prepare.Run(t.Context(), ended); err == nil {
			t.Fatal("the run was not ended")
		}
	}
	rep, err := prepare.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

func TestALookShowsWhatWasWritten(t *testing.T) {
	rep := looked(t, source(t, 2), t.TempDir()+"/out", 0)
	l := rep.Look
	if len(l.Train) != l.Out.NumFields() || len(l.All) != len(l.Train) || len(l.Sources) != len(l.Train) {
		t.Fatalf("%d columns of train, %d of all, %d sources; %d were written", len(l.Train), len(l.All), len(l.Sources), l.Out.NumFields())
	}
	from := map[string]string{}
	for i, c := range l.Train {
		from[c.Name] = l.In.Field(l.Sources[i]).Name
		if rows := c.Count + c.Nulls + c.NaNs; rows != rep.Splits[0].Rows {
			t.Errorf("%s: %d rows, train has %d", c.Name, rows, rep.Splits[0].Rows)
		}
		if c.Name == "f0" || c.Name == "f1" {
			if c.Nulls+c.NaNs > 0 || math.Abs(*c.Mean) > 1e-9 || c.Name == "f0" && math.Abs(*c.Std-1) > 1e-9 {
				t.Errorf("%s: %d missing, mean %v, std %v", c.Name, c.Nulls+c.NaNs, *c.Mean, *c.Std)
			}
		}
		if all := l.All[i]; all.Count+all.Nulls+all.NaNs != 2*rowsOfFile {
			t.Errorf("%s: %+v, %d rows were written in all", c.Name, all, 2*rowsOfFile)
		}
	}
	if from["f0"] != "f0" || from["color_red"] != "color" || from["color_nan"] != "color" || from["y"] != "y" {
		t.Errorf("columns come from %v", from)
	}
	if len(l.Before) != 2 || len(l.After) != 2 {
		t.Fatalf("%d shapes before, %d after", len(l.Before), len(l.After))
	}
	for i, h := range l.Before {
		var before, after int64
		for _, n := range h.Counts {
			before += n
		}
		for _, n := range l.After[i].Counts {
			after += n
		}
		before, after = before+h.Below+h.Above, after+l.After[i].Below+l.After[i].Above
		if c := rep.Params.Column(h.Column); before != c.Count || after != rep.Params.Rows {
			t.Errorf("%s: %d values before, %d after; the fit saw %d of %d", h.Column, before, after, c.Count, rep.Params.Rows)
		}
	}
}

func TestALookIsTheSameWhenARunWasEnded(t *testing.T) {
	in, dir := source(t, 2), t.TempDir()
	want := looked(t, in, dir+"/want", 0).Look
	for _, n := range []int{3, 9, 11, 13} {
		if got := looked(t, in, fmt.Sprint(dir, "/", n), n).Look; !reflect.DeepEqual(got, want) {
			t.Errorf("ended at %d: %+v, want %+v", n, got, want)
		}
	}
}
