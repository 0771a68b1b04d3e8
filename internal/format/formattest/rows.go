package formattest

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// rows are what a dataset must give.
type rows struct {
	n       int
	names   []string
	types   []arrow.DataType
	columns []arrow.Array
	before  []int // rows before the first files
}

// newRows puts the records together.
func newRows(t *testing.T, records []arrow.RecordBatch) *rows {
	t.Helper()
	if len(records) == 0 {
		t.Fatal("formattest: Want needs at least one record, which may be empty")
	}
	w := &rows{before: []int{0}}
	for i, f := range records[0].Schema().Fields() {
		parts := make([]arrow.Array, len(records))
		for j, r := range records {
			parts[j] = r.Column(i)
		}
		all, err := array.Concatenate(parts, memory.DefaultAllocator)
		if err != nil {
			t.Fatal(err)
		}
		w.n = all.Len()
		w.names, w.types = append(w.names, f.Name), append(w.types, all.DataType())
		typ := comparable(all.DataType())
		w.columns = append(w.columns, retyped(all, typ))
	}
	return w
}

// checkSchema holds names and types.
func (w *rows) checkSchema(t *testing.T, s *arrow.Schema) {
	t.Helper()
	if s.NumFields() != len(w.names) {
		t.Fatalf("%d columns, want %d", s.NumFields(), len(w.names))
	}
	for i, f := range s.Fields() {
		if f.Name != w.names[i] || !alike(f.Type, w.types[i]) {
			t.Fatalf("column %d is %s %s, want %s %s", i, f.Name, f.Type, w.names[i], w.types[i])
		}
	}
}

// alike says that two types hold the same values: names and nullability of
// what lies in them may differ.
func alike(a, b arrow.DataType) bool {
	x, nested := a.(arrow.NestedType)
	y, too := b.(arrow.NestedType)
	if !nested || !too {
		return arrow.TypeEqual(a, b)
	}
	if a.ID() != b.ID() || len(x.Fields()) != len(y.Fields()) {
		return false
	}
	for i := range x.Fields() {
		if !alike(x.Fields()[i].Type, y.Fields()[i].Type) {
			return false
		}
	}
	return true
}

// check compares a batch with the rows from at on.
func (w *rows) check(t *testing.T, rec arrow.RecordBatch, at int) {
	t.Helper()
	n := int(rec.NumRows())
	if at+n > w.n {
		t.Fatalf("%d rows from row %d on, want %d in all", n, at, w.n)
	}
	for i, want := range w.columns {
		col := rec.Column(i)
		if !alike(col.DataType(), w.types[i]) || col.Len() != n {
			t.Fatalf("column %q of %d rows of %s in a batch of %d rows", w.names[i], col.Len(), col.DataType(), n)
		}
		got := retyped(col, want.DataType())
		if !array.SliceEqual(got, 0, int64(n), want, int64(at), int64(at+n)) {
			w.explain(t, i, got, at)
		}
		if nulls := col.NullN(); nulls != countNulls(col) {
			t.Errorf("column %q says it has %d nulls, its bitmap %d", w.names[i], nulls, countNulls(col))
		}
		got.Release()
	}
}

func countNulls(a arrow.Array) int {
	n := 0
	for i := range a.Len() {
		if a.IsNull(i) {
			n++
		}
	}
	return n
}

// explain fails with the first row that differs.
func (w *rows) explain(t *testing.T, col int, got arrow.Array, at int) {
	t.Helper()
	want := w.columns[col]
	for i := range got.Len() {
		if !array.SliceEqual(got, int64(i), int64(i+1), want, int64(at+i), int64(at+i+1)) {
			t.Fatalf("column %q, row %d: %s, want %s", w.names[col], at+i, text(got, i), text(want, at+i))
		}
	}
	t.Fatalf("column %q: rows %d to %d differ", w.names[col], at, at+got.Len())
}

func text(a arrow.Array, i int) string {
	s := a.ValueStr(i)
	if len(s) > 200 {
		s = s[:200] + "…"
	}
	return s
}

// comparable is a type of the same layout in which equal bits are equal
// values: floats become integers.
func comparable(t arrow.DataType) arrow.DataType {
	field := func(f arrow.Field) arrow.Field {
		return arrow.Field{Name: f.Name, Type: comparable(f.Type), Nullable: true}
	}
	switch t := t.(type) {
	case *arrow.Float16Type:
		return arrow.PrimitiveTypes.Uint16
	case *arrow.Float32Type:
		return arrow.PrimitiveTypes.Uint32
	case *arrow.Float64Type:
		return arrow.PrimitiveTypes.Uint64
	case *arrow.MapType:
		return arrow.MapOf(comparable(t.KeyType()), comparable(t.ItemType()))
	case *arrow.ListType:
		return arrow.ListOfField(field(t.ElemField()))
	case *arrow.LargeListType:
		return arrow.LargeListOfField(field(t.ElemField()))
	case *arrow.FixedSizeListType:
		return arrow.FixedSizeListOfField(t.Len(), field(t.ElemField()))
	case *arrow.StructType:
		fields := make([]arrow.Field, t.NumFields())
		for i, f := range t.Fields() {
			fields[i] = field(f)
		}
		return arrow.StructOf(fields...)
	}
	return t
}

// retyped is a seen as typ, which has the same layout. The caller releases it.
func retyped(a arrow.Array, typ arrow.DataType) arrow.Array {
	d := retypedData(a.Data(), typ)
	defer d.Release()
	return array.MakeFromData(d)
}

func retypedData(d arrow.ArrayData, typ arrow.DataType) arrow.ArrayData {
	children := d.Children()
	if nested, ok := typ.(arrow.NestedType); ok {
		children = make([]arrow.ArrayData, len(d.Children()))
		for i, c := range d.Children() {
			children[i] = retypedData(c, nested.Fields()[i].Type)
			defer children[i].Release()
		}
	}
	return array.NewData(typ, d.Len(), d.Buffers(), children, d.NullN(), d.Offset())
}
