package pack

// solve gives the documents of the window rows; unless it is the last of them, rows
// that are not full may wait.
func (p *Packer) solve(last bool) {
	p.bins.reset()
	switch p.o.Method {
	case BestFit:
		bestFit(p.docs, p.order[:len(p.docs)], &p.bins, p.rooms, p.o.Length)
	case FirstFit:
		firstFit(p.docs, p.tree, &p.bins, p.o.Length)
	default:
		concat(p.docs, &p.bins, p.o.Length)
	}
	keep := int32(-1) // rows with more room than that wait; -1: none
	if !last {
		keep = p.patience()
	}
	p.rank(keep)
	p.ready, p.row = true, 0
}

// concat gives documents, which were cut to fit, one row after the other.
func concat(docs []doc, b *bins, length int) {
	bin := int32(-1)
	for i := range docs {
		if bin < 0 || b.room[bin] == 0 {
			bin = b.open(length)
		}
		docs[i].bin = bin
		b.room[bin] -= docs[i].n
	}
}

// patience is how much room a row may have that does not wait for the next window.
// At most a quarter of the window waits, so that there is room for what comes.
func (p *Packer) patience() int32 {
	most := int32(p.o.Length / 128) // 99.2% full
	if p.o.Method == Concat {
		return 0
	}
	tokens, docs := 0, 0
	for i := range p.docs {
		if p.bins.room[p.docs[i].bin] > most {
			tokens += int(p.docs[i].n)
			docs++
		}
	}
	if tokens > len(p.arena[0])/4 || docs > cap(p.docs)/4 {
		return int32(p.o.Length)
	}
	return most
}

// rank puts rows in the order of their first documents, and the documents of each
// in their own. Rows with more room than keep wait, if that is not less than 0.
func (p *Packer) rank(keep int32) {
	rank := p.bins.next // of each row; -1: it waits
	for i := range rank {
		rank[i] = -2
	}
	p.begin = p.begin[:0]
	for i := range p.docs {
		bin := p.docs[i].bin
		if rank[bin] == -2 {
			if rank[bin] = -1; keep < 0 || p.bins.room[bin] <= keep {
				rank[bin] = int32(len(p.begin))
				p.begin = append(p.begin, 0)
			}
		}
		if p.docs[i].bin = rank[bin]; rank[bin] >= 0 {
			p.begin[rank[bin]]++
		}
	}
	sum := int32(0)
	for i, n := range p.begin {
		p.begin[i] = sum
		sum += n
	}
	p.begin = append(p.begin, sum)
	// Filled from each beginning on, which thereby become the ends, that is the
	// beginnings of the rows behind.
	for i := range p.docs {
		if r := p.docs[i].bin; r >= 0 {
			p.order[p.begin[r]] = int32(i)
			p.begin[r]++
		}
	}
	copy(p.begin[1:], p.begin[:len(p.begin)-1])
	p.begin[0] = 0
}

// settle forgets the documents that have rows and moves the others to the front.
func (p *Packer) settle() {
	p.ready, p.used = false, 0
	kept := p.docs[:0]
	for _, d := range p.docs {
		if d.bin >= 0 {
			continue
		}
		copy(p.arena[0][p.used:], p.arena[0][d.at:d.at+d.n])
		if p.column[1] >= 0 {
			copy(p.arena[1][p.used:], p.arena[1][d.at:d.at+d.n])
		}
		kept = append(kept, doc{at: int32(p.used), n: d.n})
		p.used += int(d.n)
	}
	p.docs = kept
}
