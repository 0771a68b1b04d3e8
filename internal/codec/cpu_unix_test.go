//go:build unix

package codec

import (
	"syscall"
	"testing"
)

// perCPU reports decompressed bytes by CPU second, which unlike the clock
// does not depend on what else the machine does.
func perCPU(b *testing.B, size int) (done func()) {
	used := func() float64 {
		var u syscall.Rusage
		syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
	}
	start := used()
	return func() {
		b.ReportMetric(float64(size)*float64(b.N)/1e6/(used()-start), "MB/cpu-s")
	}
}
