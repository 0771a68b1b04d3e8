package run

import (
	"encoding/binary"
	"testing"
)

func TestSumReadsEveryByte(t *testing.T) {
	p := make([]byte, 300)
	for n := range p {
		for i := range n {
			p[i] = 1
			if sum(p[:n]) == 0 {
				t.Fatalf("byte %d of %d is not read", i, n)
			}
			p[i] = 0
		}
	}
	binary.LittleEndian.PutUint64(p[128:], 41)
	p[299] = 1
	if got := sum(p); got != 42 {
		t.Errorf("sum is %d, want 42", got)
	}
}

func BenchmarkSum(b *testing.B) {
	p := make([]byte, 256<<10)
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		sum(p)
	}
}
