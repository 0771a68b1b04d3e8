package mem

import (
	"math"
	"testing"
)

func TestParseReadsWhatPeopleWrite(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64
	}{
		{"1", 1}, {"512", 512}, {"512b", 512}, {"512 B", 512},
		{"1k", 1 << 10}, {"1K", 1 << 10}, {"1ki", 1 << 10}, {"1KiB", 1 << 10}, {"1kb", 1000},
		{"64Mi", 64 << 20}, {"512MiB", 512 << 20}, {" 512 MiB ", 512 << 20}, {"512MB", 512e6}, {"3m", 3 << 20},
		{"1.5g", 3 << 29}, {"2GB", 2e9}, {"2Gi", 2 << 30}, {"1e3", 1000}, {"0.5KiB", 512},
		{"1t", 1 << 40}, {"2tib", 2 << 40}, {"2TB", 2e12},
		{"50%", 500}, {"12.5 %", 125}, {"150%", 1500},
	} {
		if got, err := Parse(c.text, 1000); err != nil || got != c.want {
			t.Errorf("Parse(%q) = %d, %v; want %d", c.text, got, err, c.want)
		}
	}
}

func TestParseRefusesTheRest(t *testing.T) {
	for _, text := range []string{
		"", " ", "b", "MiB", "%", "0", "0MiB", "-1", "-5%", "nan", "inf", "infGiB", "1e300", "99999999999GiB",
		"12 apples", "1,5g", "0x10q", "1 2", "1MiBMiB", "--3", "0.0001", "0.01%",
	} {
		got, err := Parse(text, 1000)
		if err == nil {
			t.Errorf("Parse(%q) = %d, want an error", text, got)
			continue
		}
		want := `"` + text + `" is not a size; write 512MiB, 2GB or 50%`
		if err.Error() != want {
			t.Errorf("Parse(%q): %v; want %s", text, err, want)
		}
	}
}

func TestFormatRoundsForPeople(t *testing.T) {
	for _, c := range []struct {
		n    int64
		want string
	}{
		{0, "0 B"}, {1, "1 B"}, {1023, "1023 B"}, {1024, "1 KiB"}, {1536, "1.5 KiB"}, {100<<10 + 512, "100 KiB"},
		{1 << 20, "1 MiB"}, {64 << 20, "64 MiB"}, {1<<20 + 1, "1.0 MiB"}, {640 << 20, "640 MiB"},
		{1 << 30, "1 GiB"}, {3 << 29, "1.5 GiB"}, {5 << 40, "5120 GiB"},
	} {
		if got := Format(c.n); got != c.want {
			t.Errorf("Format(%d) = %q, want %q", c.n, got, c.want)
		}
	}
}

// TestFlagSuffices: whoever types what Flag printed has at least n bytes.
func TestFlagSuffices(t *testing.T) {
	for _, c := range []struct {
		n    int64
		want string
	}{{0, "0MiB"}, {1, "1MiB"}, {1 << 20, "1MiB"}, {1<<20 + 1, "2MiB"}, {640 << 20, "640MiB"}, {5 << 30, "5120MiB"}} {
		got := Flag(c.n)
		if got != c.want {
			t.Errorf("Flag(%d) = %q, want %q", c.n, got, c.want)
		}
		if c.n == 0 {
			continue
		}
		if back, err := Parse(got, 0); err != nil || back < c.n {
			t.Errorf("Parse(Flag(%d)) = %d, %v", c.n, back, err)
		}
	}
}

func TestBlockSizeWastesLittle(t *testing.T) {
	for n := 0; n < 64<<20; n += 1 + n/97 {
		size := BlockSize(n)
		if size < n || size%pageSize != 0 || BlockSize(size) != size {
			t.Fatalf("BlockSize(%d) = %d, of which BlockSize is %d", n, size, BlockSize(size))
		}
		if waste := size - n; waste > max(pageSize, n/16+1) {
			t.Fatalf("BlockSize(%d) wastes %d", n, waste)
		}
	}
	if BlockSize(math.MaxInt32) < math.MaxInt32 {
		t.Error("BlockSize overflows")
	}
}
