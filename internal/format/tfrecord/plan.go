package tfrecord

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/build"
	"github.com/weir-data/weir/internal/format/records"
)

// feature is one, as the sample or the schema has it.
type feature struct {
	name string
	kind kind
	list bool // not always one value
	text bool // bytes that are UTF-8
}

// Plan looks at a sample for the features.
func Plan(ctx context.Context, src format.Source, opt format.Options) (format.Dataset, error) {
	// What is wrong with a record is told when it is read, or it is left out.
	s := &survey{features: make(map[string]*feature), skip: opt.Bad != nil || opt.Schema != nil}
	v, err := records.Sample(ctx, "tfrecord", src, opt, s.visit)
	if err != nil {
		return nil, err
	}
	found, err := s.found(opt.Schema)
	if err != nil {
		return nil, fmt.Errorf("tfrecord: %w", err)
	}
	names := make([]string, len(found))
	for i, f := range found {
		names[i] = f.name
	}
	chosen, err := format.Match(names, opt.Columns)
	if err != nil {
		return nil, fmt.Errorf("tfrecord: %w", err)
	}
	lenient := opt.Schema != nil || len(opt.Columns) > 0
	l := records.Layout{
		Name: "tfrecord", Source: src, Options: opt, Schema: schema(found, chosen),
		Largest: s.largest, Window: v.Window, Remote: v.Remote,
		Cutter: func(int) records.Cutter { return cutter{} },
		Parser: func(b *build.Batch) (records.Parser, error) { return newParser(b, found, chosen, lenient), nil },
		About: format.Info{
			Objects: len(src.Objects), Rows: -1, Groups: int64(len(src.Objects)),
			Bytes: v.Total, InMemory: v.InMemory(s.built), LargestIn: v.InMemory(s.built),
		},
	}
	if v.Bytes > 0 {
		l.Ratio = float64(s.built) / float64(v.Bytes)
	}
	return records.New(l)
}

func newParser(b *build.Batch, found []feature, chosen []int, lenient bool) *parser {
	p := &parser{b: b, places: make(map[string]int), lenient: lenient}
	for i, f := range found {
		p.targets = append(p.targets, target{feature: f})
		p.places[f.name] = i
	}
	for to, i := range chosen {
		p.targets[i].col = b.Column(to)
	}
	return p
}

// survey is what the sample shows.
type survey struct {
	skip     bool // bad records are passed over
	features map[string]*feature
	largest  int64
	built    int64 // bytes that the records become
	object   int   // that is looked at
	before   int64 // its bytes that were
}

// visit goes through whole records.
func (s *survey) visit(object int, p []byte, final bool) (int, error) {
	if object != s.object {
		s.object, s.before = object, 0
	}
	_, to, err := cutter{}.Cut(p, final)
	var bad *records.Bad
	if errors.As(err, &bad) {
		return 0, s.bad(bad.At, err)
	}
	for at := 0; at < to; {
		n, err := length(p[at:])
		if err != nil {
			return 0, s.bad(at, err)
		}
		s.largest = max(s.largest, int64(n))
		example, err := data(p[at : at+n])
		if err == nil {
			err = features(example, s.see)
		}
		if err != nil && !s.skip {
			return 0, s.bad(at, err)
		}
		at += n
	}
	s.before += int64(to)
	return to, nil
}

// bad says where a record is that cannot be read.
func (s *survey) bad(at int, err error) error {
	return format.Error(format.ErrData, "byte %d: %w", s.before+int64(at), err)
}

// featuresMost bounds what a sample of random bytes can make of itself.
const featuresMost = 1 << 16

// see takes in one feature of a record.
func (s *survey) see(name, value []byte) error {
	k, values, err := list(value)
	if err != nil || k == none {
		return err
	}
	f := s.features[string(name)]
	if f == nil {
		if len(s.features) == featuresMost {
			return fmt.Errorf("more than %d features", featuresMost)
		}
		f = &feature{name: string(name), kind: k, text: k == isBytes}
		s.features[f.name] = f
	}
	if f.kind != k {
		return fmt.Errorf("feature %q is of %s, before it was of %s", name, k, f.kind)
	}
	n, err := s.count(f, values)
	f.list = f.list || n != 1
	s.built += 5
	return err
}

// count looks at the values of a list.
func (s *survey) count(f *feature, values []byte) (n int, err error) {
	for len(values) > 0 {
		t, rest, err := next(values)
		if err != nil {
			return n, err
		}
		values = rest
		switch {
		case t.number != 1:
			return n, errExample
		case f.kind == isBytes:
			f.text = f.text && utf8.Valid(t.data)
			s.built += int64(len(t.data)) + 4
			n++
		case t.wire != wireBytes:
			s.built += 8
			n++
		case f.kind == isFloat:
			s.built += int64(len(t.data))
			n += len(t.data) / 4
		default:
			for _, c := range t.data {
				if c < 0x80 {
					s.built += 8
					n++
				}
			}
		}
	}
	return n, nil
}

// found is the features in the order of their columns.
func (s *survey) found(given *arrow.Schema) ([]feature, error) {
	var out []feature
	if given == nil {
		for _, name := range slices.Sorted(maps.Keys(s.features)) {
			out = append(out, *s.features[name])
		}
		if len(out) == 0 {
			return nil, format.Error(format.ErrData, "there are no records with features; give a --schema")
		}
		return out, nil
	}
	for _, g := range given.Fields() {
		f := feature{name: g.Name}
		t := g.Type
		if l, ok := t.(*arrow.ListType); ok {
			f.list, t = true, l.Elem()
		}
		switch t.ID() {
		case arrow.BINARY:
			f.kind = isBytes
		case arrow.STRING:
			f.kind, f.text = isBytes, true
		case arrow.FLOAT32:
			f.kind = isFloat
		case arrow.INT64:
			f.kind = isInt
		default:
			return nil, format.Error(format.ErrUsage, "column %q: TFRecord has int64, float32, binary and string, and lists of these, not %s", g.Name, g.Type)
		}
		out = append(out, f)
	}
	return out, nil
}

func schema(found []feature, chosen []int) *arrow.Schema {
	var fields []arrow.Field
	for _, i := range chosen {
		f := found[i]
		t := arrow.DataType(arrow.BinaryTypes.Binary)
		switch {
		case f.kind == isInt:
			t = arrow.PrimitiveTypes.Int64
		case f.kind == isFloat:
			t = arrow.PrimitiveTypes.Float32
		case f.text:
			t = arrow.BinaryTypes.String
		}
		if f.list {
			t = arrow.ListOfNonNullable(t)
		}
		fields = append(fields, arrow.Field{Name: f.name, Type: t, Nullable: true})
	}
	return arrow.NewSchema(fields, nil)
}
