package npy

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// lists is rows of three numbers each; what says null is one.
func lists(t *testing.T, typ arrow.DataType, rows string) arrow.Array {
	t.Helper()
	a, _, err := array.FromJSON(memory.DefaultAllocator, arrow.FixedSizeListOf(3, typ), strings.NewReader(rows))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAColumnIsCopiedFromSlicesOfSlices(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var text []string
	for i := range 100 {
		text = append(text, "["+strconv.Itoa(i)+",1,0]")
	}
	for _, typ := range []arrow.DataType{arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Uint64} {
		whole := lists(t, typ, "["+strings.Join(text, ",")+"]")
		c, err := ColumnOf(arrow.Field{Name: "x", Type: whole.DataType()})
		if err != nil {
			t.Fatal(err)
		}
		size := c.Row() / 3
		for range 50 {
			a := rnd.IntN(50)
			b := a + 20 + rnd.IntN(30)
			once := array.NewSlice(whole, int64(a), int64(b))
			from, n := rnd.IntN(10), 1+rnd.IntN(10)
			dst := make([]byte, n*c.Row())
			c.Copy(dst, once, from, n)
			for i := range n {
				if got := int(dst[i*c.Row()]); got != a+from+i || dst[i*c.Row()+size] != 1 || dst[i*c.Row()+2*size] != 0 {
					t.Fatalf("%s: row %d is %v", typ, a+from+i, dst[i*c.Row():(i+1)*c.Row()])
				}
			}
		}
	}
}

func TestNullIsFoundInListsAndOfThem(t *testing.T) {
	for rows, want := range map[string]int{
		`[[1,2,3],[4,5,6]]`:            -1,
		`[[1,2,3],null,[4,5,6]]`:       1,
		`[[1,2,3],[4,5,6],[7,null,9]]`: 2,
	} {
		a := lists(t, arrow.PrimitiveTypes.Int32, rows)
		if got := Null(a); got != want {
			t.Errorf("%s: %d, want %d", rows, got, want)
		}
		if got := Null(array.NewSlice(a, 1, int64(a.Len()))); got != max(want-1, -1) {
			t.Errorf("%s without the first: %d", rows, got)
		}
	}
}
