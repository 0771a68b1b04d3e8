package shuffle

import (
	"context"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format/rows"
	"github.com/weir-data/weir/internal/mem"
)

const (
	// leastHand keeps writing sequential where there are many partitions.
	leastHand = 64 << 10
	// usualHand is what a partition has where there is memory for it.
	usualHand = 1 << 20
	// mostFan bounds the partitions, of which each has some state.
	mostFan = 8192
	// mostBatch and leastBatch bound the bytes of batches that are given out:
	// rows that were found stay in the second cache until they are columns.
	mostBatch  = 1 << 20
	leastBatch = 64 << 10
	// mostRows bounds the rows of a batch.
	mostRows = 16 << 10
	// usualPartition is about how large partitions are where memory would hold
	// larger ones: threads write to many files, and wait less for the first to be
	// read.
	usualPartition = 32 << 20
	// indexBytes is what putting a row in its place costs: an entry, and a part
	// of a bucket.
	indexBytes = entryBytes + 1
)

// Input is what is known of the rows before they are read.
type Input struct {
	Schema *arrow.Schema
	Bytes  int64 // in memory, estimated
	Rows   int64 // estimated; less than 0: not known
}

// Layout is how rows will be shuffled. Wrong estimates cost time, not the
// result.
type Layout struct {
	Partitions int
	Passes     int   // over the data: scatter, order, and what lies between
	Scratch    int64 // bytes on disk at most, if the estimates hold
	OrderShare int64 // for the order of a partition: the share divided by threads
}

// Plan divides a share among threads: all of them scatter together, and then
// each puts partitions in order. A share below Least is mem.ErrTooSmall.
func Plan(in Input, share int64, threads int) (Layout, error) {
	f, err := rows.New(in.Schema)
	if err != nil {
		return Layout{}, fmt.Errorf("shuffle: %w", err)
	}
	threads = max(threads, 1)
	if least := Least(in.Schema, threads); share < least {
		return Layout{}, &mem.TooSmallError{Share: "shuffle", Need: least, Limit: share}
	}
	n := in.Rows
	if n < 0 {
		n = in.Bytes / 64
	}
	size, _ := f.Fixed()
	least := n * int64(size+keyBytes)
	bytes := max(least, in.Bytes+in.Bytes/32+n*rowBytes(f))
	l := Layout{Partitions: 1, Passes: 2, OrderShare: share / int64(threads)}
	fits := 0.85 * float64(l.OrderShare-reserve(l.OrderShare)) // rows are not dealt evenly, and blocks are rounded up
	want := math.Ceil(float64(bytes+indexBytes*n) / fits)
	most := float64(handsBytes(share) / usualHand)
	want = max(want, min(most, math.Floor(float64(bytes)/usualPartition)))
	fan := float64(mostPartitions(share))
	l.Partitions = max(1, int(min(want, fan)))
	blocks := bytes/leastHand*2 + int64(l.Partitions)
	l.Scratch = bytes + blocks*headBytes
	for got := fan; got < want; got *= float64(mostPartitions(l.OrderShare)) {
		l.Passes++
	}
	if l.Passes > 2 {
		l.Scratch += l.Scratch / int64(l.Partitions) * int64(threads) * int64(l.Passes-2) * 5 / 4
	}
	return l, nil
}

// rowBytes is what a row has on disk beside its values: a key, a size, bits, and
// where the bytes of columns end; lists and texts in memory have offsets as well.
func rowBytes(f *rows.Form) int64 {
	if _, same := f.Fixed(); same {
		return keyBytes + 8
	}
	return keyBytes + 8 + int64(f.Nodes())*2
}

// reserve is what the order of a partition needs beside its rows: two batches,
// and what finding them takes.
func reserve(share int64) int64 {
	return 2*int64(mem.BlockSize(batchBytes(share))) + orderHeap
}

// orderHeap is what ordering has on the Go heap: places of a batch's rows.
const orderHeap = 8*mostRows + 32<<10

// batchBytes is how large batches are that are given out.
func batchBytes(share int64) int { return int(min(max(share/16, leastBatch), mostBatch)) }

// Least is the smallest share for rows of a schema, if no row is larger than a
// tenth of it.
func Least(schema *arrow.Schema, threads int) int64 {
	return int64(max(threads, 1)) * (1<<20 + 1<<10*int64(len(schema.Fields())))
}

// chunk is how many rows are dealt at once with a share: where there is room,
// enough for many threads.
func chunk(share int64) int { return int(min(max(share>>11, 2<<10), 32<<10)) }

// mostHand bounds a hand, which is a block on disk: one is read beside all hands
// where a partition is scattered again in a thread's part of the share.
func mostHand(share int64, threads int) int {
	return int(min(max(share/int64(max(threads, 1))/8, leastHand), usualHand))
}

// beside maps n bytes of a share of which the caller holds some already. What it
// would wait for in vain is an error.
func beside(ctx context.Context, share *mem.Budget, held int64, n int) (*mem.Block, error) {
	if need := held + int64(mem.BlockSize(n)); need > share.Limit() {
		return nil, &mem.TooSmallError{Share: "shuffle", Need: need, Limit: share.Limit()}
	}
	return share.Map(ctx, n)
}

// handsBytes is how much of a share holds rows that are dealt. The rest is for rows
// that are larger than a hand.
func handsBytes(share int64) int { return int(min(share/2, 1<<30)) }

// mostPartitions is to how many rows can be dealt at once.
func mostPartitions(share int64) int {
	return min(max(handsBytes(share)/leastHand, 2), mostFan)
}
