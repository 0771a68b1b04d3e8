package render_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/format/render"
)

// one is the text of the only value that add appends.
func one[B array.Builder](t *testing.T, typ arrow.DataType, add func(B)) string {
	t.Helper()
	b := array.NewBuilder(memory.DefaultAllocator, typ)
	add(b.(B))
	text, _, ok := render.Scalar(b.NewArray())
	if !ok {
		t.Fatalf("%s is not a scalar", typ)
	}
	out := string(text(nil, 0))
	if len(out) > render.MaxText {
		t.Errorf("%s: %d bytes", typ, len(out))
	}
	return out
}

func TestScalarTexts(t *testing.T) {
	date := func(d arrow.Date32) string {
		return one(t, arrow.FixedWidthTypes.Date32, func(b *array.Date32Builder) { b.Append(d) })
	}
	stamp := func(u arrow.TimeUnit, zone string, v arrow.Timestamp) string {
		return one(t, &arrow.TimestampType{Unit: u, TimeZone: zone}, func(b *array.TimestampBuilder) { b.Append(v) })
	}
	float := func(v float64) string {
		return one(t, arrow.PrimitiveTypes.Float64, func(b *array.Float64Builder) { b.Append(v) })
	}
	for _, c := range [][2]string{
		{date(0), "1970-01-01"},
		{date(-719_529), "-0001-12-31"},
		{date(-719_528), "0000-01-01"},
		{date(2_932_896), "9999-12-31"},
		{date(2_932_897), "+10000-01-01"},
		{date(math.MaxInt32), "+5881580-07-11"},
		{date(math.MinInt32), "-5877641-06-23"},
		{stamp(arrow.Second, "", -1), "1969-12-31T23:59:59"},
		{stamp(arrow.Millisecond, "UTC", -1), "1969-12-31T23:59:59.999Z"},
		{stamp(arrow.Nanosecond, "", math.MinInt64), "1677-09-21T00:12:43.145224192"},
		{stamp(arrow.Nanosecond, "Asia/Tokyo", math.MaxInt64), "2262-04-11T23:47:16.854775807Z"},
		{stamp(arrow.Second, "", math.MaxInt64), "+292277026596-12-04T15:30:07"},
		{float(math.NaN()), "NaN"},
		{float(math.Inf(1)), "inf"},
		{float(math.Inf(-1)), "-inf"},
		{float(0.1), "0.1"},
		{float(math.MaxFloat64), "1.7976931348623157e+308"},
		{one(t, arrow.PrimitiveTypes.Float32, func(b *array.Float32Builder) { b.Append(0.1) }), "0.1"},
		{one(t, arrow.FixedWidthTypes.Time32s, func(b *array.Time32Builder) { b.Append(86_399) }), "23:59:59"},
		{one(t, arrow.FixedWidthTypes.Duration_ms, func(b *array.DurationBuilder) { b.Append(-5) }), "-5"},
		{one(t, arrow.FixedWidthTypes.Date64, func(b *array.Date64Builder) { b.Append(-1) }), "1969-12-31"},
		{one(t, arrow.FixedWidthTypes.MonthDayNanoInterval, func(b *array.MonthDayNanoIntervalBuilder) {
			b.Append(arrow.MonthDayNanoInterval{Months: 14, Days: -3, Nanoseconds: -1_500_000_000})
		}), "P14M-3DT-1.500000000S"},
		{one(t, &arrow.Decimal256Type{Precision: 76, Scale: 76}, func(b *array.Decimal256Builder) {
			b.Append(decimal256.FromI64(-5))
		}), "-0." + strings.Repeat("0", 75) + "5"},
		{one(t, extensions.NewUUIDType(), func(b *extensions.UUIDBuilder) {
			b.AppendBytes([16]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255})
		}), "00010203-0405-0607-0809-0a0b0c0d0eff"},
	} {
		if c[0] != c[1] {
			t.Errorf("got %s, want %s", c[0], c[1])
		}
	}
}

func TestDatesAreThoseOfTheCalendar(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	b := array.NewDate32Builder(memory.DefaultAllocator)
	for range 20_000 {
		b.Append(arrow.Date32(rnd.IntN(3_652_059) - 719_162)) // years 1 to 9999
	}
	a := b.NewDate32Array()
	text, _, _ := render.Scalar(a)
	for i := range a.Len() {
		if got, want := string(text(nil, i)), a.Value(i).ToTime().Format(time.DateOnly); got != want {
			t.Fatalf("day %d: got %s, want %s", a.Value(i), got, want)
		}
	}
}

func TestOutKeepsEveryByteInSmallPieces(t *testing.T) {
	var got bytes.Buffer
	most := 0
	o := render.NewOut(writer(func(p []byte) (int, error) {
		most = max(most, len(p))
		return got.Write(p)
	}))
	long := strings.Repeat("0123456789", 30_000)
	o.String(long)
	o.Write([]byte(long))
	o.Byte('|')
	o.Base64([]byte(long))
	if err := o.Flush(); err != nil {
		t.Fatal(err)
	}
	if want := long + long + "|" + base64.StdEncoding.EncodeToString([]byte(long)); got.String() != want {
		t.Error("the text differs")
	}
	if most > 64<<10 {
		t.Errorf("a piece of %d bytes", most)
	}
}

func TestOutKeepsTheFirstError(t *testing.T) {
	n := 0
	o := render.NewOut(writer(func([]byte) (int, error) {
		n++
		return 0, errors.New("full")
	}))
	o.String(strings.Repeat("x", 500_000))
	if err := o.Flush(); err == nil || n != 1 {
		t.Errorf("error %v after %d writes", err, n)
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }
