// Package call works for another process, which asks: find the rows that are the
// first of their kind, hash rows, make tokens of texts.
//
// The process that asks (python/weir/_call.py) starts this one with pipes for
// standard input and output and with some files that have no name, in memory
// where the system has that: the slots, into which it writes, and an output for
// each of them.
// A question is a line of JSON, and so is its answer, one for each question, in
// their order:
//
//	{"do": "rows", "slot": 0, "size": 4190312}
//	{"rows": 65536}
//	{"error": "…", "kind": "usage"}
//
// The first question is "start", and says what the work is. A slot holds an Arrow
// IPC stream, or texts with a zero behind each, and belongs to this process from the question to the answer. What
// is too large for a line is written to the slot's output, as Arrow lays out its
// buffers; the answer says where. The asking process may ask a second question,
// with another slot, before the first is answered.
//
// The work ends with the standard input, or when the process has another parent
// than at first: a forked process may have kept the parent's end of the pipe.
package call

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
)

// Version is the number of the protocol; both ends must have the same.
const Version = 1

// parentLook is how often the process looks who its parent is.
const parentLook = time.Second

// Env is what the command line gives.
type Env struct {
	Store   store.Store
	Formats []format.Format
	Memory  func(text string) (int64, error) // "" is what the container allows
	Setup   func(memory int64) *mem.Budget
	Heap    func() int64
	Threads func() int
	Kind    func(error) string // how the other process is told of an error
}

// question is a line of the process that asks; the fields that are not those of
// what it asks for are left out.
type question struct {
	Do   string `json:"do"`
	Slot int    `json:"slot"` // where the data lies
	Size int64  `json:"size"` // of it, in bytes
	Rows int64  `json:"rows"` // of it

	Special bool   `json:"special"` // encode: with the post-processor's tokens; decode: special ones are left out
	Token   string `json:"token"`   // id: the token

	start
}

// start is what the work is.
type start struct {
	Version int      `json:"version"`
	Work    string   `json:"work"` // "rows", "tokenizer" or "detect"
	Memory  string   `json:"memory"`
	Threads int      `json:"threads"`
	Slots   []int    `json:"slots"`   // descriptors
	Outputs []int    `json:"outputs"` // descriptors, one for each slot
	Paths   []string `json:"paths"`   // what to read; of a tokenizer its file

	SHA       bool     `json:"sha"`      // rows: hashed by SHA-256
	Distinct  bool     `json:"distinct"` // rows: not only hashed
	Bits      bool     `json:"bits"`     // rows: which are the first of their kind, and not their hashes
	Normalize bool     `json:"normalize"`
	By        []string `json:"by"`
	Scratch   string   `json:"scratch"` // a directory that is there, and empty
	Expect    int64    `json:"expect"`  // rows: how many will come, with the hashes that are known
}

// answer is the line for a question; the fields that are not those of what was
// asked are 0.
type answer struct {
	Rows int64 `json:"rows"`
	// Bytes are where in the output the second buffer begins and ends.
	From int64 `json:"from"`
	To   int64 `json:"to"`

	Zeros       bool   `json:"zeros,omitempty"` // texts have zeros in them, and were not taken
	ID          int64  `json:"id"`              // of a token; -1: there is none
	Format      string `json:"format"`
	Compression string `json:"compression"`
}

// failure is the line where there is no answer.
type failure struct {
	Error string `json:"error"`
	Kind  string `json:"kind"`
}

// work answers questions.
type work interface {
	check(q *question) error
	do(ctx context.Context, q *question) (answer, error)
	close()
}

// Serve is the life of the process. Ctrl-C is for the process that asks to act
// on: Serve makes this one ignore it.
func Serve(ctx context.Context, in io.Reader, out io.Writer, env Env) error {
	signal.Ignore(os.Interrupt)
	done := make(chan struct{})
	watching := stream.Async(func() error { return watchParent(done) })
	err := serve(ctx, in, out, env)
	close(done)
	return errors.Join(err, watching.Wait())
}

// watchParent ends the process when its parent is gone; nothing that it does
// needs to be finished.
func watchParent(done <-chan struct{}) error {
	parent := os.Getppid()
	tick := time.NewTicker(parentLook)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return nil
		case <-tick.C:
			if os.Getppid() != parent {
				os.Exit(1)
			}
		}
	}
}

func serve(ctx context.Context, in io.Reader, out io.Writer, env Env) error {
	lines, answers := json.NewDecoder(in), json.NewEncoder(out)
	var w work
	defer func() {
		if w != nil {
			w.close()
		}
	}()
	for {
		var q question
		if err := lines.Decode(&q); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("a question that is none: %w", err)
		}
		var a answer
		err := stream.Guard(func() (err error) {
			switch {
			case q.Do == "start" && w == nil:
				w, err = begin(ctx, q.start, env)
			case w == nil:
				err = errors.New("a bug in weir, please report it: a question before the start")
			default:
				if err = w.check(&q); err == nil {
					a, err = w.do(ctx, &q)
				}
			}
			return err
		})
		if err != nil {
			err = answers.Encode(failure{err.Error(), env.Kind(err)})
		} else {
			err = answers.Encode(a)
		}
		if err != nil {
			return err
		}
	}
}

// begin makes ready for the work.
func begin(ctx context.Context, s start, env Env) (work, error) {
	if s.Version != Version {
		return nil, format.Error(format.ErrUsage, "the package speaks protocol %d, this weir %d; install the same version of both", s.Version, Version)
	}
	if s.Threads < 0 {
		return nil, format.Error(format.ErrUsage, "num_threads=%d: there is at least one, and 0 is as many as there are CPUs", s.Threads)
	}
	if s.Threads == 0 {
		s.Threads = env.Threads()
	}
	memory, err := env.Memory(s.Memory)
	if err != nil {
		return nil, format.Error(format.ErrUsage, "%w", err)
	}
	d := &desk{env: env, start: s, memory: memory, budget: env.Setup(memory)}
	if d.slots, err = adopt(s.Slots); err != nil {
		return nil, err
	}
	if d.outputs, err = adopt(s.Outputs); err != nil {
		return nil, err
	}
	switch s.Work {
	case "rows":
		return newRows(ctx, d)
	case "tokenizer":
		return newTokens(ctx, d)
	case "detect":
		return detect{d}, nil
	}
	return nil, unknown(s.Work)
}

func unknown(what string) error {
	return fmt.Errorf("a bug in weir, please report it: asked for %q", what)
}
