package watch

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stage/profile"
)

// Sizes of pictures, in units of their viewBox.
const (
	memoryWidth, memoryHeight = 960.0, 190.0
	barsWidth, barsHeight     = 240.0, 84.0
)

// memoryChart is memory over time, against the limit.
type memoryChart struct {
	Width, Height float64
	Line, Area    string // of paths
	Limit         float64
	LimitText     string
	Peak          string
	Ticks         []chartTick
	Passes        []chartTick
}

// chartTick is a text at a place.
type chartTick struct {
	X    float64
	Text string
}

// newMemoryChart is nil where too little is known for a line.
func newMemoryChart(p *Preparation) *memoryChart {
	points := p.Memory.Points
	if len(points) < 2 || p.Memory.Limit <= 0 {
		return nil
	}
	end := points[len(points)-1].Seconds
	if end <= 0 {
		return nil
	}
	top := float64(p.Memory.Limit)
	for _, q := range points {
		top = max(top, float64(q.Bytes))
	}
	top *= 1.12
	x := func(sec float64) float64 { return round(sec / end * memoryWidth) }
	y := func(bytes float64) float64 { return round(memoryHeight * (1 - bytes/top)) }
	c := &memoryChart{Width: memoryWidth, Height: memoryHeight, Limit: y(float64(p.Memory.Limit)),
		LimitText: "--memory " + mem.Format(p.Memory.Limit), Peak: mem.Format(p.Memory.Peak)}
	var line strings.Builder
	for i, q := range points {
		// A point is the most since the one before: the line has steps.
		if i == 0 {
			fmt.Fprintf(&line, "M0 %v", y(float64(q.Bytes)))
		} else {
			fmt.Fprintf(&line, "V%v", y(float64(q.Bytes)))
		}
		fmt.Fprintf(&line, "H%v", x(q.Seconds))
	}
	c.Line = line.String()
	c.Area = fmt.Sprintf("%sV%vH0Z", c.Line, memoryHeight)
	step := niceStep(end / 6)
	for sec := 0.0; sec < end*0.97; sec += step {
		c.Ticks = append(c.Ticks, chartTick{x(sec), strconv.FormatFloat(sec, 'g', 6, 64) + " s"})
	}
	c.Passes = passTicks(p, x)
	return c
}

// passTicks are where passes begin; readings beyond the known ones belong to
// the last.
func passTicks(p *Preparation, x func(float64) float64) (ticks []chartTick) {
	var names []string
	for _, pass := range p.Passes {
		if !pass.Before {
			names = append(names, pass.Name)
		}
	}
	for i, sec := range p.Memory.Passes[:min(len(p.Memory.Passes), len(names))] {
		ticks = append(ticks, chartTick{x(sec), names[i]})
	}
	return ticks
}

// niceStep is 1, 2 or 5 times a power of ten, and not less than v.
func niceStep(v float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	for _, k := range []float64{1, 2, 5} {
		if k*unit >= v {
			return k * unit
		}
	}
	return 10 * unit
}

// barChart is a histogram.
type barChart struct {
	Width, Height float64
	Bars          []bar
	Lo, Hi        string // of the axis
	Beyond        string // what is not shown
	Empty         bool
}

type bar struct {
	X, Y, Width, Height float64
	Title               string
}

func newBarChart(h profile.Histogram) barChart {
	c := barChart{Width: barsWidth, Height: barsHeight, Empty: len(h.Counts) == 0}
	if c.Empty {
		return c
	}
	most := int64(1)
	for _, n := range h.Counts {
		most = max(most, n)
	}
	// A single value is shown as one bar in the middle.
	slots, first := len(h.Counts), 0
	if slots == 1 {
		slots, first = 9, 4
	}
	wide := barsWidth / float64(slots)
	edge := func(i int) float64 { return h.Lo + float64(i)*h.Width }
	for i, n := range h.Counts {
		if n == 0 {
			continue
		}
		// What is there can be seen, however little it is.
		high := max(1, barsHeight*float64(n)/float64(most))
		from, to := edge(i), edge(i+1)
		c.Bars = append(c.Bars, bar{X: round(float64(first+i)*wide + wide*0.06), Width: round(wide * 0.88),
			Y: round(barsHeight - high), Height: round(high),
			Title: fmt.Sprintf("%s to %s: %s", number(&from), number(&to), group(n))})
	}
	lo, hi := h.Min, h.Max
	if h.Below > 0 {
		lo = edge(0)
	}
	if h.Above > 0 {
		hi = edge(len(h.Counts))
	}
	c.Lo, c.Hi = number(&lo), number(&hi)
	if len(h.Counts) == 1 {
		c.Hi = ""
	}
	var beyond []string
	if h.Below > 0 {
		beyond = append(beyond, group(h.Below)+" below")
	}
	if h.Above > 0 {
		beyond = append(beyond, group(h.Above)+" above")
	}
	c.Beyond = strings.Join(beyond, ", ")
	return c
}

// round keeps two digits behind the point.
func round(v float64) float64 { return math.Round(v*100) / 100 }
