package wire

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

func TestChildWorksAheadAsFarAsItMay(t *testing.T) {
	p := begins(t, batches(t, 4096, 100))
	p.next(kindHello)
	p.begin(1, 3, 0, 0)
	p.next(kindLayout)
	for want := uint64(1); want <= 3; want++ {
		if id, _ := p.batch(); id != want {
			t.Fatalf("batch %d, want %d", id, want)
		}
	}
	// Three are out and none was taken: what comes next is the answer, not a batch.
	p.send(kindAsk, nil)
	if got := p.next(kindReport); string(got) != "{}" {
		t.Errorf("report %q", got)
	}
	p.ack(2, 1)
	p.batch()
	p.batch()
	if err := p.leave(); err != nil {
		t.Error(err)
	}
}

func TestChildWithoutRoomSaysWhoHoldsIt(t *testing.T) {
	p := begins(t, batches(t, 6000, 3)) // 8 KiB a slot, 20 KiB in all
	p.next(kindHello)
	p.begin(7, 10, 0, 0)
	p.next(kindLayout)
	p.batch()
	p.batch()
	full := p.next(kindFull)
	if run := binary.LittleEndian.Uint32(full); run != 7 {
		t.Errorf("full of run %d", run)
	}
	for i, want := range []uint64{0, 2, 16384, 6000} {
		if got := binary.LittleEndian.Uint64(full[4+8*i:]); got != want {
			t.Errorf("full: number %d is %d, want %d", i, got, want)
		}
	}
	p.ack(2, 1)
	p.batch()
	if full = p.next(kindFull); binary.LittleEndian.Uint64(full[4:]) != 1 {
		t.Errorf("full after one release: %v", full)
	}
	// The parent changes its mind: the next run is told again.
	p.begin(8, 10, 0, 0)
	if full = p.next(kindFull); binary.LittleEndian.Uint32(full) != 8 {
		t.Errorf("full of another run: %v", full)
	}
	p.ack(3, 2, 3)
	if _, run := p.batch(); run != 8 {
		t.Errorf("a batch of run %d", run)
	}
	if err := p.leave(); err != nil {
		t.Error(err)
	}
}

func TestBatchLargerThanTheArenaIsRefused(t *testing.T) {
	p := begins(t, func(ctx context.Context, c *Conn, _ []byte) error {
		a, err := NewArena(ctx, mem.New(1<<20), 10000)
		if err != nil {
			return err
		}
		defer a.Close()
		if err := c.Hello(a, nil, nil); err != nil {
			return err
		}
		run, err := c.Begin()
		if err != nil {
			return err
		}
		_, err = run.Reserve(12289)
		return err
	})
	p.next(kindHello)
	p.begin(1, 1, 0, 0)
	if got := p.next(kindError); string(got) != "\x06memorya batch needs 12.0 KiB, its share of memory is 12 KiB" {
		t.Errorf("error frame %q", got)
	}
	if err := p.leave(); !errors.Is(err, mem.ErrTooSmall) {
		t.Error(err)
	}
}

func TestArenaIsSharedWithTheParent(t *testing.T) {
	p := begins(t, func(ctx context.Context, c *Conn, config []byte) error {
		if string(config) != "{}" {
			t.Errorf("configuration %q", config)
		}
		a, err := NewArena(ctx, mem.New(1<<20), 8192)
		if err != nil {
			return err
		}
		defer a.Close()
		if err := c.Hello(a, nil, nil); err != nil {
			return err
		}
		run, err := c.Begin()
		if err != nil {
			return err
		}
		s, err := run.Reserve(5)
		if err != nil {
			return err
		}
		copy(s.Bytes(), "hello")
		if err := run.Send(s, Batch{}); err != nil {
			return err
		}
		return run.End(4, 5, []byte("{}"))
	})
	arena := p.received()
	defer arena.Close()
	p.begin(1, 1, 4, 0)
	p.next(kindLayout)
	p.batch()
	p.next(kindEnd)
	got := make([]byte, 5)
	if _, err := arena.ReadAt(got, 0); err != nil || string(got) != "hello" {
		t.Errorf("%q %v in the arena", got, err)
	}
	if err := arena.Truncate(0); err == nil {
		t.Log("the arena can be cut; it is not sealed on this system")
	}
	if err := p.leave(); err != nil {
		t.Error(err)
	}
}

func TestErrorsReachTheParent(t *testing.T) {
	for want, work := range map[string]worker{
		"\x04datarow 3 is damaged": func(context.Context, *Conn, []byte) error { return format.Error(format.ErrData, "row 3 is damaged") },
		"\x05othera bug in weir, please report it: made up": func(context.Context, *Conn, []byte) error {
			panic("made up")
		},
	} {
		p := begins(t, work)
		if got := p.next(kindError); !strings.HasPrefix(string(got), want) {
			t.Errorf("error frame %q, want %q", got, want)
		}
		if err := p.leave(); err == nil {
			t.Error("no error")
		}
	}
}

func TestWorkThatDoesNotEndIsEnded(t *testing.T) {
	stuck := make(chan struct{})
	p := begins(t, func(context.Context, *Conn, []byte) error {
		<-stuck
		return nil
	})
	p.sock.Close()
	<-p.late
	close(stuck)
	if err := p.child.Wait(); err != nil {
		t.Error(err)
	}
}

func TestChildRefusesAnotherVersion(t *testing.T) {
	p := unstarted(t, func(context.Context, *Conn, []byte) error { return errors.New("never called") })
	p.send(kindStart, appendU32(nil, Version+1))
	if got := p.next(kindError); !bytes.Contains(got, []byte("install the same version of both")) {
		t.Errorf("error frame %q", got)
	}
	if err := p.leave(); !errors.Is(err, ErrProtocol) {
		t.Error(err)
	}
}

func TestLayoutsCrossOnceAndAreForgotten(t *testing.T) {
	var l layouts
	layout := func(i int) Layout { return Layout{'t', strings.Repeat("x", i)} }
	for i := range 2 * layoutsKept {
		n, fresh := l.number(layout(i))
		again, second := l.number(layout(i))
		if !fresh || second || n != again || n != uint32(i%layoutsKept) {
			t.Fatalf("layout %d: number %d %v, then %d %v", i, n, fresh, again, second)
		}
	}
	if _, fresh := l.number(layout(0)); !fresh || len(l.known) != layoutsKept {
		t.Errorf("%d layouts are known", len(l.known))
	}
}

func TestDictionariesAreRefusedWhereverTheyAre(t *testing.T) {
	dict := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	for _, c := range []struct {
		typ  arrow.DataType
		want bool
	}{
		{arrow.BinaryTypes.String, false}, {dict, true}, {arrow.ListOf(arrow.PrimitiveTypes.Int8), false},
		{arrow.ListOf(arrow.StructOf(arrow.Field{Name: "d", Type: dict})), true}, {arrow.MapOf(arrow.BinaryTypes.String, dict), true},
	} {
		if got := encoded(c.typ); got != c.want {
			t.Errorf("%v: %v", c.typ, got)
		}
	}
}

// FuzzParent: whatever the parent sends, the child neither panics nor hands out
// memory twice, and ends when the parent hangs up.
func FuzzParent(f *testing.F) {
	f.Add([]byte{})
	f.Add(frame(nil, kindAck, func(b []byte) []byte { return appendU64(b, 1, 1, 1) }))
	f.Add(frame(nil, kindAck, func(b []byte) []byte { return appendU64(b, 2, 2, 1) }))
	f.Add(frame(nil, kindBegin, func(b []byte) []byte { return appendU64(appendU32(b, 2, 1), 0, 9) }))
	f.Add(frame(nil, kindAsk, func(b []byte) []byte { return b }))
	f.Add(frame(nil, '?', func(b []byte) []byte { return b }))
	f.Add([]byte{255, 255, 255, 255, 'A'})
	f.Fuzz(func(t *testing.T, sent []byte) {
		p := begins(t, batches(t, 4096, 4))
		p.next(kindHello)
		p.begin(1, 2, 0, 0)
		p.next(kindLayout)
		p.batch()
		p.batch()
		reading := stream.Async(func() error {
			_, err := io.Copy(io.Discard, p.sock)
			return err
		})
		// Either fails when the child has hung up on nonsense.
		_, _ = p.sock.Write(sent)
		_ = p.sock.CloseWrite()
		_ = reading.Wait()
		if err := p.child.Wait(); err != nil && !errors.Is(err, ErrProtocol) {
			t.Fatal(err)
		}
	})
}
