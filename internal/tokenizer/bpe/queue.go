package bpe

// queue is a binary heap of ranks (high half) and places (low half), the least
// first. It is the slice itself: container/heap would call for every comparison.
type queue []uint64

// order makes a heap of what was appended in any order.
func (q queue) order() {
	for i := len(q)/2 - 1; i >= 0; i-- {
		q.sink(i)
	}
}

func (q queue) push(x uint64) queue {
	q = append(q, x)
	at := len(q) - 1
	for at > 0 {
		up := (at - 1) / 2
		if q[up] <= x {
			break
		}
		q[at] = q[up]
		at = up
	}
	q[at] = x
	return q
}

// pop takes the least of a queue that is not empty.
func (q queue) pop() (uint64, queue) {
	least := q[0]
	end := len(q) - 1
	q[0] = q[end]
	q = q[:end]
	if end > 0 {
		q.sink(0)
	}
	return least, q
}

func (q queue) sink(at int) {
	x := q[at]
	for {
		child := 2*at + 1
		if child >= len(q) {
			break
		}
		if child+1 < len(q) && q[child+1] < q[child] {
			child++
		}
		if x <= q[child] {
			break
		}
		q[at] = q[child]
		at = child
	}
	q[at] = x
}
