package parquet

import "context"

// seek passes over entries of a column of lists that all have one size and are
// not null, at the beginning of its chunk: pages by their headers, whether they
// end inside a row or not, and of the last one the levels, and the bytes of
// plain values, without looking at them one by one.
func (l *leaf) seek(ctx context.Context, w *worker, entries int64) error {
	for entries > 0 {
		off, walked, pages := l.off, l.walked, l.pages
		ref, ok, err := l.walk(ctx, w)
		if err != nil {
			return err
		}
		if !ok {
			return l.missing(int(entries) / l.every)
		}
		if int64(ref.Values) > entries {
			l.off, l.walked, l.pages = off, walked, pages
			break
		}
		entries -= int64(ref.Values)
	}
	if entries == 0 {
		return nil
	}
	if ok, err := l.ready(ctx, w); err != nil || !ok {
		return err
	}
	p, n := l.page, int(entries)
	p.left -= n
	if _, err := p.rep.pass(w.tmp[:], n, 1); err != nil {
		return bad("repetition levels", err)
	}
	valid, err := p.def.pass(w.tmp[:], n, uint32(l.MaxDef))
	if err != nil {
		return bad("definition levels", err)
	}
	return bad("values", l.drop(w, valid))
}

// drop passes over n values of the page.
func (l *leaf) drop(w *worker, n int) error {
	if plain, ok := l.page.vals.(plainFixed); ok {
		return plain.w.discard(n * plain.width)
	}
	tmp := bytesOf(w.words[:])
	for most := len(tmp) / l.width; n > 0; n -= min(n, most) {
		if err := l.page.vals.fixed(tmp, min(n, most)); err != nil {
			return err
		}
	}
	return nil
}

// pass reads n values, by way of tmp where they are packed, and says how many
// of them are v.
func (h *hybrid) pass(tmp []byte, n int, v uint32) (int, error) {
	found := 0
	for n > 0 {
		if err := h.run(); err != nil {
			return 0, err
		}
		k := min(n, h.left)
		if h.packed {
			k = min(k, len(tmp))
			if err := fillHybrid(h, tmp[:k]); err != nil {
				return 0, err
			}
			for _, x := range tmp[:k] {
				if uint32(x) == v {
					found++
				}
			}
		} else {
			if h.value == v {
				found += k
			}
			h.left -= k
		}
		n -= k
	}
	return found, nil
}
