package watch

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run"
)

// Progress keeps one line of a terminal up to date. The zero value with an
// Out serves. All methods are safe for concurrent use.
type Progress struct {
	Out   io.Writer
	Width func() int // columns of the terminal; nil or 0: 80

	mu    sync.Mutex
	shown int // columns the last line took
}

// Show replaces the line.
func (p *Progress) Show(o run.Observation) {
	width := 0
	if p.Width != nil {
		width = p.Width()
	}
	if width <= 0 {
		width = 80
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	line := []rune(Line(o))
	if len(line) >= width {
		line = line[:max(0, width-1)]
	}
	fmt.Fprintf(p.Out, "\r%s%s", string(line), strings.Repeat(" ", max(0, p.shown-len(line))))
	p.shown = len(line)
}

// Clear takes the line away, so that other text can stand in its place.
func (p *Progress) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}

// Write takes the line away and writes text, such as a log record, to Out.
func (p *Progress) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	return p.Out.Write(text)
}

// clear is Clear; the caller holds mu.
func (p *Progress) clear() {
	if p.shown > 0 {
		fmt.Fprintf(p.Out, "\r%s\r", strings.Repeat(" ", p.shown))
		p.shown = 0
	}
}

// Line is the text of one observation.
func Line(o run.Observation) string {
	parts := make([]string, 0, 5)
	done, known := fraction(o)
	if known {
		parts = append(parts, fmt.Sprintf("%3.0f%%", 100*done))
	}
	parts = append(parts, group(o.Rows)+" rows")
	if sec := o.Elapsed.Seconds(); sec > 0 {
		parts = append(parts, short(float64(o.Bytes)/1e6/sec)+" MB/s")
	}
	parts = append(parts, fmt.Sprintf("memory %s of %s", mem.Format(o.Memory), mem.Format(o.Limit)))
	if known && done > 0 && done < 1 {
		left := time.Duration(float64(o.Elapsed) * (1 - done) / done)
		parts = append(parts, remaining(left)+" left")
	}
	return strings.Join(parts, "  ")
}

// remaining writes an estimate: whole seconds are all it knows.
func remaining(d time.Duration) string {
	if d < 100*time.Second {
		return fmt.Sprintf("%.0f s", d.Seconds())
	}
	return seconds(d)
}

// fraction is how much is done: by rows where their number is known, else by
// bytes.
func fraction(o run.Observation) (float64, bool) {
	switch {
	case o.TotalRows > 0:
		return min(1, float64(o.Rows)/float64(o.TotalRows)), true
	case o.TotalBytes > 0:
		return min(1, float64(o.Bytes)/float64(o.TotalBytes)), true
	}
	return 0, false
}
