package dataset

import (
	"context"
	"encoding/json"
	"io"
	"math"

	"github.com/weir-data/weir/internal/format/schematext"
	"github.com/weir-data/weir/internal/store"
)

// Load reads the manifest of a finished dataset and looks at whether it can be
// one: every name is a plain one, parts are numbered without gaps, the sums are
// right. A directory without one is store.ErrNotFound; one that is damaged is
// format.ErrData. What visit was handed counts only if Load returns no error.
func Load(ctx context.Context, at Place, visit Visit) (*Manifest, error) {
	d, leave, err := at.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	o, err := d.object(ctx, manifestName)
	if err != nil {
		return nil, err
	}
	return d.load(ctx, o, visit)
}

// load reads a manifest that may lie under another name.
func (d *directory) load(ctx context.Context, o store.Object, visit Visit) (m *Manifest, err error) {
	err = d.read(ctx, o, o.Size, func(r io.Reader) error {
		j := newJSONReader(o.URL, r, d.Share)
		defer j.close()
		m, err = readManifest(j, visit)
		return err
	})
	return m, err
}

func readManifest(j *jsonReader, visit Visit) (*Manifest, error) {
	m := &Manifest{}
	var version int64
	if err := j.delim('{'); err != nil {
		return nil, err
	}
	if err := j.member("version", &version); err != nil {
		return nil, err
	}
	if version != manifestVersion {
		return nil, damaged(j.url, "version %d; this weir reads %d", version, manifestVersion)
	}
	for _, f := range []struct {
		name string
		to   any
	}{{"created_by", &m.CreatedBy}, {"seed", &m.Seed}, {"recipe", &m.Recipe}} {
		if err := j.member(f.name, f.to); err != nil {
			return nil, err
		}
	}
	var schema json.RawMessage
	if err := j.large("schema", &schema, visit.brief); err != nil {
		return nil, err
	}
	if !visit.brief {
		var err error
		if m.Schema, err = schematext.Parse(schema); err != nil {
			return nil, damaged(j.url, "schema: %w", err)
		}
	}
	if err := m.readSplits(j, visit.Part); err != nil {
		return nil, err
	}
	if err := m.readArrays(j); err != nil {
		return nil, err
	}
	if err := j.large("params", &m.Params, visit.brief); err != nil {
		return nil, err
	}
	if err := m.readSource(j, visit.Source); err != nil {
		return nil, err
	}
	if err := j.delim('}'); err != nil {
		return nil, err
	}
	return m, j.end()
}

func (m *Manifest) readSplits(j *jsonReader, visit func(Split, Part) error) error {
	if err := j.key("splits"); err != nil {
		return err
	}
	err := j.array(func() error {
		if len(m.Splits) == mostSplits {
			return damaged(j.url, "more than %d splits", mostSplits)
		}
		s, err := readSplit(j, visit)
		m.Splits = append(m.Splits, s)
		return err
	})
	if err != nil {
		return err
	}
	if err := checkNames("split", names(m.Splits), mostSplits); err != nil {
		return damaged(j.url, "%w", err)
	}
	return nil
}

func names(splits []Split) []string {
	out := make([]string, len(splits))
	for i, s := range splits {
		out[i] = s.Name
	}
	return out
}

func readSplit(j *jsonReader, visit func(Split, Part) error) (s Split, err error) {
	if err := j.delim('{'); err != nil {
		return s, err
	}
	for _, f := range []struct {
		name string
		to   any
	}{{"name", &s.Name}, {"prefix", &s.Prefix}, {"rows", &s.Rows}, {"bytes", &s.Bytes}} {
		if err := j.member(f.name, f.to); err != nil {
			return s, err
		}
	}
	if err := checkName(s.Name); err != nil {
		return s, damaged(j.url, "split: %w", err)
	}
	if s.Prefix != s.Name+"/" {
		return s, damaged(j.url, "split %q: %.99q is not its prefix", s.Name, s.Prefix)
	}
	sum := Split{}
	if err := j.key("parts"); err != nil {
		return s, err
	}
	err = j.array(func() error {
		var p Part
		if err := j.value(&p); err != nil {
			return err
		}
		if err := sum.add(p); err != nil {
			return damaged(j.url, "split %q: %w", s.Name, err)
		}
		if visit == nil {
			return nil
		}
		return visit(s, p)
	})
	if err != nil {
		return s, err
	}
	if sum.Rows != s.Rows || sum.Bytes != s.Bytes {
		return s, damaged(j.url, "split %q: its parts have %d rows and %d bytes together, it says %d and %d",
			s.Name, sum.Rows, sum.Bytes, s.Rows, s.Bytes)
	}
	s.Parts = sum.Parts
	return s, j.delim('}')
}

func (m *Manifest) readArrays(j *jsonReader) error {
	if err := j.key("arrays"); err != nil {
		return err
	}
	taken := names(m.Splits)
	err := j.array(func() error {
		var a Array
		if err := j.value(&a); err != nil {
			return err
		}
		if err := a.check(); err != nil {
			return damaged(j.url, "arrays: %w", err)
		}
		if m.Arrays = append(m.Arrays, a); len(m.Arrays) > mostArrays {
			return damaged(j.url, "more than %d arrays", mostArrays)
		}
		taken = append(taken, a.Name)
		return nil
	})
	if err != nil {
		return err
	}
	if err := checkNames("array", taken, math.MaxInt); err != nil {
		return damaged(j.url, "arrays: %w", err)
	}
	return nil
}

func (m *Manifest) readSource(j *jsonReader, visit func(store.Object) error) error {
	if err := j.key("source"); err != nil {
		return err
	}
	if err := j.delim('{'); err != nil {
		return err
	}
	if err := j.member("digest", &m.SourceDigest); err != nil {
		return err
	}
	if err := j.key("objects"); err != nil {
		return err
	}
	sum := newListing()
	err := j.array(func() error {
		var o listed
		if err := j.value(&o); err != nil {
			return err
		}
		if o.Size < 0 {
			return damaged(j.url, "source: %q has %d bytes", o.URL, o.Size)
		}
		sum.add(o)
		if visit == nil {
			return nil
		}
		return visit(o.object())
	})
	if err != nil {
		return err
	}
	if m.SourceDigest != sum.h.String() {
		return damaged(j.url, "source: the digest is not that of its objects")
	}
	m.Sources = sum.count
	return j.delim('}')
}
