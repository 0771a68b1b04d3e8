package prepare_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/dataset/datasettest"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run/prepare"
	"github.com/weir-data/weir/internal/run/runtest"
	"github.com/weir-data/weir/internal/store"
)

var errBroken = errors.New("broken on purpose")

// fault counts steps and breaks one of them.
type fault struct {
	steps []string // the beginnings of those that count
	at    int      // the nth breaks; 0: none
	mu    sync.Mutex
	n     int
}

// step is for datasettest.Steps.
func (f *fault) step(name string) error {
	if slices.ContainsFunc(f.steps, func(s string) bool { return strings.HasPrefix(name, s) }) && f.hit() {
		return fmt.Errorf("%s: %w", name, errBroken)
	}
	return nil
}

// hit counts one; true: it is the one that breaks.
func (f *fault) hit() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n++
	return f.n == f.at
}

// store is one in which a step breaks.
func (f *fault) store() store.ReadWriter {
	return datasettest.Steps{ReadWriter: store.New(store.Options{}), Step: f.step}
}

// short is a store of which one write stops halfway.
type short struct {
	store.ReadWriter
	*fault
}

func (s short) Create(ctx context.Context, url string, share *mem.Budget) (store.Output, error) {
	o, err := s.ReadWriter.Create(ctx, url, share)
	return shortOutput{o, s.fault}, err
}

type shortOutput struct {
	store.Output
	*fault
}

func (o shortOutput) Write(p []byte) (int, error) {
	if !o.hit() {
		return o.Output.Write(p)
	}
	n, err := o.Output.Write(p[:len(p)/2])
	if err == nil {
		err = fmt.Errorf("%w: %w", errBroken, io.ErrShortWrite)
	}
	return n, err
}

// fails breaks the nth step for n = 1, 1+stride, … until a run passes
// untouched. Each time the run says so or is right, nothing stays under lease,
// and the same preparation then comes to the same bytes. Before, if not nil,
// leaves work to go on with.
func fails(t *testing.T, g ground, in string, stride int, before func(out string), broken func(*fault) store.ReadWriter, steps ...string) {
	t.Helper()
	want := golden(t, g, in)
	for n := 1; ; n += stride {
		f := &fault{steps: steps, at: n}
		c := victim(in, g.fresh())
		if before != nil {
			before(c.Out)
		}
		good := c.Store
		c.Store = broken(f)
		c.Run.Store = c.Store
		_, err := prepare.Run(t.Context(), c)
		runtest.Empty(t, c.Run.Budget)
		if f.n < n {
			if err != nil {
				t.Fatal(err)
			}
			t.Log(f.n, "steps")
			return
		}
		if err != nil && !errors.Is(err, errBroken) {
			t.Fatalf("%v %d: %v hides the cause", steps, n, err)
		}
		c.Store, c.Run.Store = good, good
		if err != nil {
			_, err = prepare.Run(t.Context(), c)
			runtest.Empty(t, c.Run.Budget)
		}
		if err != nil && !errors.Is(err, dataset.ErrFinished) {
			t.Fatalf("%v %d, then: %v", steps, n, err)
		}
		same(t, fmt.Sprintf("%v %d", steps, n), g.files(c.Out), want)
		if t.Failed() {
			return
		}
	}
}

func TestTheNthReadFailingIsSaid(t *testing.T) {
	in := toParquet(t, few(t))
	fails(t, disk(t), in, 1, nil, (*fault).store, "before list", "before open", "before read")
}

func TestTheNthChangeFailingIsSaidAndGoneOnFrom(t *testing.T) {
	in := few(t)
	fails(t, disk(t), in, 1, nil, (*fault).store,
		"before create", "before commit", "before remove", "before sweep", "after create", "after commit", "after remove")
}

func TestTheNthWriteFailingIsSaidAndGoneOnFrom(t *testing.T) {
	in := few(t)
	fails(t, disk(t), in, 2, nil, (*fault).store, "before write", "after write")
}

func TestAWriteThatStopsHalfwayIsSaidAndGoneOnFrom(t *testing.T) {
	in := few(t)
	fails(t, disk(t), in, 2, nil, func(f *fault) store.ReadWriter { return short{store.New(store.Options{}), f} })
}

// TestTheNthStepOfGoingOnFailingIsSaid begins where a run was ended between two
// parts.
func TestTheNthStepOfGoingOnFailingIsSaid(t *testing.T) {
	in := few(t)
	ended := func(out string) {
		c := victim(in, out)
		f := &fault{steps: []string{"before commit " + out + "/val/part-00001"}, at: 1}
		c.Store = f.store()
		if _, err := prepare.Run(t.Context(), c); !errors.Is(err, errBroken) {
			t.Fatal(err)
		}
	}
	fails(t, disk(t), in, 1, ended, (*fault).store,
		"before list", "before open", "before read", "before create", "before commit", "before remove", "before sweep", "after commit", "after remove")
}

func TestTheNthUploadFailingIsSaidAndGoneOnFrom(t *testing.T) {
	fails(t, bucket(t), few(t), 5, nil, (*fault).store, "before commit", "after commit")
}
