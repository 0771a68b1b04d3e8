package stream

// Future is a call that runs in a goroutine of its own.
type Future struct {
	done chan struct{}
	err  error
}

// Async starts f. Whoever calls it waits for the result before letting go of
// what f uses.
func Async(f func() error) *Future {
	r := &Future{done: make(chan struct{})}
	go func() {
		r.err = Guard(f)
		close(r.done)
	}()
	return r
}

// Wait returns what the call returned; nil where there was none.
func (r *Future) Wait() error {
	if r == nil {
		return nil
	}
	<-r.done
	return r.err
}
