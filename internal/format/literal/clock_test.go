package literal

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
)

func TestEveryDayIsThatOfTheCalendar(t *testing.T) {
	for y := 0; y <= 9999; y += 1 + y%97 {
		for m := range 14 {
			for d := range 33 {
				text := fmt.Sprintf("%04d-%02d-%02d", y, m, d)
				day, n, ok := date([]byte(text))
				want, err := time.Parse(time.DateOnly, text)
				if ok != (err == nil) || ok && (int64(day)*daySeconds != want.Unix() || n != 10) {
					t.Fatalf("%s: day %d, %v", text, day, ok)
				}
			}
		}
	}
}

func TestInstantsAreRead(t *testing.T) {
	for text, want := range map[string]string{
		"2024-02-29":                          "2024-02-29T00:00:00Z",
		"2024-02-29 12:34":                    "2024-02-29T12:34:00Z",
		"2024-02-29T12:34:56":                 "2024-02-29T12:34:56Z",
		"2024-02-29t12:34:56.5z":              "2024-02-29T12:34:56.5Z",
		"2024-02-29 12:34:56.123456789+05:30": "2024-02-29T07:04:56.123456789Z",
		"1969-12-31T23:59:59.9-0130":          "1970-01-01T01:29:59.9Z",
		"2024-01-01 00:00:00+14":              "2023-12-31T10:00:00Z",
	} {
		sec, nano, _, ok := Instant([]byte(text))
		if got := time.Unix(sec, int64(nano)).UTC().Format(time.RFC3339Nano); !ok || got != want {
			t.Errorf("%s: %s, %v", text, got, ok)
		}
	}
	for _, text := range []string{
		"", "2024", "2024-02-30", "2024/02/28", "2024-02-29 ", "2024-02-29 1", "2024-02-29 24:00", "2024-02-29 12:60", "2024-02-29 12:34:60", "2024-02-29T12:34:56.",
		"2024-02-29T12:34:56.1234567891", "2024-02-29T12:34:56x", "2024-02-29T12:34:56+1", "2024-02-29T12:34:56+24:00", "2024-02-29T12:34:56+01:60", "2024-02-29T12:34:56+01-00", "2024-02-29x12:34",
		"2024-02-2:", "202:-02-20", "2024-02-29T12:34Zx", "2024-02-29T12:34:5", "2024-02-29T1234",
	} {
		if _, _, _, ok := Instant([]byte(text)); ok {
			t.Errorf("%q is an instant", text)
		}
	}
}

func TestTimesThatAUnitCannotSayAreRefused(t *testing.T) {
	for _, c := range []struct {
		sec  int64
		nano int
		unit arrow.TimeUnit
		want int64
		ok   bool
	}{
		{1, 0, arrow.Second, 1, true}, {1, 1, arrow.Second, 0, false}, {-1, 500_000_000, arrow.Millisecond, -500, true},
		{1, 1_000, arrow.Microsecond, 1_000_001, true}, {1, 1, arrow.Nanosecond, 1_000_000_001, true},
		{253_402_300_799, 0, arrow.Microsecond, 253_402_300_799_000_000, true}, {253_402_300_799, 0, arrow.Nanosecond, 0, false}, {-62_167_219_200, 0, arrow.Nanosecond, 0, false},
		{math.MaxInt64/1_000_000_000 - 1, 999_999_999, arrow.Nanosecond, math.MaxInt64/1_000_000_000*1_000_000_000 - 1, true},
	} {
		got, ok := InUnit(c.sec, c.nano, PerSecond(c.unit))
		if ok != c.ok || ok && got != c.want {
			t.Errorf("%d s %d ns in %s: %d, %v", c.sec, c.nano, c.unit, got, ok)
		}
	}
}

func FuzzInstant(f *testing.F) {
	f.Add([]byte("2024-02-29T12:34:56.123456789+05:30"))
	f.Add([]byte("2024-02-29 12:34Z"))
	f.Fuzz(func(t *testing.T, b []byte) {
		sec, nano, zone, ok := Instant(b)
		if !ok || len(b) < len("2006-01-02 15:04:05Z") || b[10] != 'T' || b[len(b)-1] != 'Z' {
			return
		}
		want, err := time.Parse(time.RFC3339Nano, string(b))
		if err != nil && b[16] == 'Z' {
			return // no seconds
		}
		if err != nil || want.Unix() != sec || want.Nanosecond() != nano || !zone {
			t.Fatalf("%q: %d %d %v, want %v, %v", b, sec, nano, zone, want, err)
		}
	})
}
