package corpus

import (
	"context"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/run/arrays"
)

// Planned is what Run would do.
type Planned struct {
	Paths     []string
	Format    string
	Source    format.Info
	Columns   int
	Memory    int64 // --memory
	Directory int64 // of it, for the directory's own files and the program
	Threads   int
	Out       string
	Scratch   string
	Chances   string // of finding near-duplicates, for people; "": they are not looked for
	Passes    []PlannedPass
}

// PlannedPass is one of the passes, in their order.
type PlannedPass struct {
	Name    string // hash, write, order or arrays
	Least   int64  // what it cannot do without beside reading, bytes
	Holds   int64  // what it gets
	Scratch int64  // bytes on disk at most; -1: not known before the rows are
	About   bool   // Scratch is an estimate
	Codec   string // that the scratch files are compressed with; "": none
}

// Plan says what Run would do and refuses what Run would refuse, with the same
// error, but reads no rows and writes nothing.
func Plan(ctx context.Context, c Config) (Planned, error) {
	w, err := plan(ctx, c)
	if err != nil {
		return Planned{}, err
	}
	info := w.reading.Info()
	p := Planned{Paths: c.Run.Paths, Format: w.reading.Format(), Source: info, Columns: w.reading.Schema().NumFields(),
		Memory: c.Run.Memory, Directory: w.besides(), Threads: max(1, c.Run.Options.Threads), Out: c.Out, Chances: c.Dedup.Chances()}
	if w.needsScratch() {
		p.Scratch = c.Scratch
	}
	_, end, err := w.directory()
	if err != nil {
		return p, err
	}
	defer end()
	if err := w.chooseCodec(); err != nil {
		return p, err
	}
	if c.Out != "" {
		if err := w.fits(); err != nil {
			return p, err
		}
	}
	if w.Dedup != nil {
		pass := PlannedPass{Name: "hash", Least: w.hashLeast(), Scratch: -1, About: w.Dedup.Exact}
		if info.Rows >= 0 {
			if pass.Scratch, err = w.hashScratch(info.Rows); err != nil {
				return p, err
			}
		}
		if err := p.add(w, pass, 1<<50); err != nil {
			return p, err
		}
	}
	if c.Out == "" {
		return p, nil
	}
	least, most, err := w.writeMemory()
	if err != nil {
		return p, err
	}
	if err := p.add(w, PlannedPass{Name: "write", Least: least}, most); err != nil {
		return p, err
	}
	if w.Shuffle {
		if err := p.addOrder(w); err != nil {
			return p, err
		}
	}
	if w.Npy {
		least, most := arrays.Memory(c.Out, w.sheets)
		p.Passes = append(p.Passes, PlannedPass{Name: "arrays", Least: least, Holds: most})
	}
	return p, nil
}

// addOrder adds the pass that puts rows in order.
func (p *Planned) addOrder(w *work) error {
	last := &p.Passes[len(p.Passes)-1]
	layout, err := w.layout(last.Holds)
	if err != nil {
		return err
	}
	last.Scratch = layout.Scratch
	if w.state.Codec == codecZstd {
		last.Codec, last.About = codecZstd, true
		if last.Scratch, err = w.packedScratch(layout); err != nil {
			return err
		}
	}
	least, most, err := w.shelfMemory()
	if err == nil {
		p.Passes = append(p.Passes, PlannedPass{Name: "order", Least: least, Holds: min(most, w.Run.Budget.Limit())})
	}
	return err
}

// add adds a pass, or refuses it as Run would.
func (p *Planned) add(w *work, pass PlannedPass, most int64) error {
	share, c, err := w.divide(w.reading, pass.Name, pass.Least, most)
	if err != nil {
		return err
	}
	pass.Holds = share.Limit()
	c.Budget.Close()
	share.Close()
	p.Passes = append(p.Passes, pass)
	return nil
}
