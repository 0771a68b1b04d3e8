package run

import (
	"time"
)

// Meter watches a pass that reads no dataset.
type Meter struct {
	scan
	total int64
}

// Measure begins, for a pass over so many rows. Stop or Report ends it.
func Measure(c Config, rows int64) *Meter {
	m := &Meter{total: rows}
	m.Config, m.before, m.start = c, c.Budget.Leased(), time.Now()
	m.flowing = m.start
	var observe func(int64)
	if c.Observe != nil {
		observe = func(memory int64) {
			c.Observe(Observation{Elapsed: time.Since(m.start), Rows: m.sampler.rows.Load(), TotalRows: rows,
				Bytes: m.sampler.bytes.Load(), Memory: memory, Limit: c.Memory})
		}
	}
	m.sampler = sample(observe)
	return m
}

// Add counts rows that are done, and their bytes.
func (m *Meter) Add(rows, bytes int64) {
	m.batches++
	m.leased = max(m.leased, m.Budget.Leased())
	m.sampler.rows.Add(rows)
	m.sampler.bytes.Add(bytes)
}

// Stop ends the watching.
func (m *Meter) Stop() { m.sampler.stop() }

// Report is what was seen.
func (m *Meter) Report() Report {
	m.Stop()
	wall := time.Since(m.start).Seconds()
	r := Report{
		Rows: m.sampler.rows.Load(), Batches: m.batches, MemoryBytes: m.sampler.bytes.Load(),
		WallSeconds: wall, CPUSeconds: cpuSeconds(), Threads: max(1, m.Options.Threads),
		MemoryLimit: m.Memory, PeakMemory: m.sampler.peak, BudgetLimit: m.Budget.Limit(), BudgetPeak: m.leased,
	}
	if wall > 0 {
		r.RowsPerSecond, r.MBPerSecond = float64(r.Rows)/wall, float64(r.MemoryBytes)/1e6/wall
	}
	return r
}
