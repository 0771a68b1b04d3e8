package near

import "github.com/weir-data/weir/internal/stage/dedup"

// examples are the first rows that are not kept. Windows come from the last to
// the first: those of a window go before those of the windows behind it.
type examples struct {
	most  int
	found []dedup.Example // ascending; First is an earlier row of the group
	now   []dedup.Example // of the window
}

func (e *examples) begin()     { e.now = e.now[:0] }
func (e *examples) room() bool { return len(e.now) < e.most }

func (e *examples) add(row, earlier uint64) {
	e.now = append(e.now, dedup.Example{Row: int64(row), First: int64(earlier)})
}

func (e *examples) end() {
	all := append(e.now, e.found...)
	e.now, e.found = e.found, all[:min(len(all), e.most)]
}

// all has the first rows of the groups. An earlier row that is not kept itself
// is one of the rows before it.
func (e *examples) all() []dedup.Example {
	first := make(map[int64]int64, len(e.found))
	for i, x := range e.found {
		if f, ok := first[x.First]; ok {
			e.found[i].First = f
		}
		first[x.Row] = e.found[i].First
	}
	return e.found
}
