package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/store"
)

// Entry is a part or array to be checked.
type Entry struct {
	Split  string       // "" for an array
	Object store.Object // as it was listed
	Part                // as the manifest has it; of an array the rows, which are those of parts, are not counted
}

// Kinds of Finding.
const (
	Missing   = "missing"
	Truncated = "truncated"
	Altered   = "altered"
	Extra     = "extra"
)

// Finding is one thing that is wrong with a dataset.
type Finding struct {
	Kind string // Missing, Truncated, Altered or Extra
	Name string // in the dataset's directory
	Text string // what is wrong, in words
}

func (f Finding) String() string { return f.Name + ": " + f.Text }

// Result is what Verify has seen.
type Result struct {
	Manifest *Manifest // without schema and parameters
	Parts    int64     // checked, with the arrays
	Rows     int64     // in parts that are right
	Bytes    int64
	Findings map[string]int64 // how many of each kind
}

// Verify holds a finished dataset against its manifest. Check reads a part, or
// an array, whole and says what it found; report is told of everything that is
// wrong as soon as it is known, and may be nil. What is wrong with the data
// makes the error format.ErrData, which names the first finding; other errors
// end the work.
func Verify(ctx context.Context, at Place, check func(context.Context, Entry) (rows int64, digest string, bytes int64, err error), report func(Finding)) (Result, error) {
	d, leave, err := at.enter(ctx)
	if err != nil {
		return Result{}, err
	}
	defer leave()
	manifest, err := d.object(ctx, manifestName)
	if errors.Is(err, store.ErrNotFound) {
		return Result{}, format.Error(format.ErrData, "%s: no %s in it: not a dataset, or one that was not finished: %w", d.url, manifestName, err)
	}
	if err != nil {
		return Result{}, err
	}
	v := &verifier{d: d, check: check, report: report, endings: make(map[string]bool)}
	v.Findings = make(map[string]int64)
	if v.list, err = d.list(ctx, ""); err != nil {
		return Result{}, err
	}
	v.seen = make([]bool, len(v.list))
	v.Manifest, err = d.load(ctx, manifest, Visit{brief: true, Part: func(s Split, p Part) error { return v.entry(ctx, s.Name, s.Prefix, p) }})
	if err != nil {
		return v.Result, err
	}
	for _, a := range v.Manifest.Arrays {
		if err := v.entry(ctx, "", "", Part{Name: a.Name, Bytes: a.Bytes, Digest: a.Digest}); err != nil {
			return v.Result, err
		}
	}
	v.extra()
	return v.Result, v.verdict()
}

type verifier struct {
	Result
	d       *directory
	check   func(context.Context, Entry) (int64, string, int64, error)
	report  func(Finding)
	list    []store.Object
	seen    []bool // of list, what the manifest names
	endings map[string]bool
	first   Finding
}

func (v *verifier) find(kind, name, text string, args ...any) {
	f := Finding{Kind: kind, Name: name, Text: fmt.Sprintf(text, args...)}
	if len(v.Findings) == 0 {
		v.first = f
	}
	v.Findings[kind]++
	if v.report != nil {
		v.report(f)
	}
}

// entry checks one object that the manifest names.
func (v *verifier) entry(ctx context.Context, split, prefix string, p Part) error {
	name := prefix + p.Name
	v.endings[path.Ext(name)] = true
	i, ok := slices.BinarySearchFunc(v.list, v.d.url+name, func(o store.Object, url string) int { return strings.Compare(o.URL, url) })
	if !ok {
		v.find(Missing, name, "missing")
		return nil
	}
	v.seen[i] = true
	v.Parts++
	o := v.list[i]
	switch {
	case o.Size < p.Bytes:
		v.find(Truncated, name, "%d bytes, the manifest says %d", o.Size, p.Bytes)
		return nil
	case o.Size > p.Bytes:
		v.find(Altered, name, "%d bytes, the manifest says %d", o.Size, p.Bytes)
		return nil
	}
	rows, digest, bytes, err := v.check(ctx, Entry{Split: split, Object: o, Part: p})
	switch {
	case errors.Is(err, store.ErrNotFound):
		v.find(Missing, name, "missing")
	case errors.Is(err, io.ErrUnexpectedEOF):
		v.find(Truncated, name, "%v", err)
	case errors.Is(err, format.ErrData), errors.Is(err, store.ErrChanged):
		v.find(Altered, name, "%v", err)
	case err != nil:
		return err
	case split != "" && rows != p.Rows:
		v.find(Altered, name, "%d rows, the manifest says %d", rows, p.Rows)
	case bytes != p.Bytes:
		v.find(Altered, name, "%d bytes, the manifest says %d", bytes, p.Bytes)
	case digest != p.Digest:
		v.find(Altered, name, "the digest is %s, the manifest says %s", digest, p.Digest)
	default:
		v.Rows += p.Rows
		v.Bytes += bytes
	}
	return nil
}

// extra finds what a reader of the whole directory would take for data: any
// file of a directory, and beside the manifest those with an ending that the
// dataset's own files have.
func (v *verifier) extra() {
	for i, o := range v.list {
		name := v.d.rel(o)
		if !v.seen[i] && name != manifestName && (strings.Contains(name, "/") || v.endings[path.Ext(name)]) {
			v.find(Extra, name, "not in the manifest")
		}
	}
}

// verdict is the error for all findings.
func (v *verifier) verdict() error {
	var counts []string
	total := int64(0)
	for _, kind := range []string{Missing, Truncated, Altered, Extra} {
		if n := v.Findings[kind]; n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, kind))
			total += n
		}
	}
	switch total {
	case 0:
		return nil
	case 1:
		return format.Error(format.ErrData, "%s%v", v.d.url, v.first)
	}
	return format.Error(format.ErrData, "%s%v; in all %s", v.d.url, v.first, strings.Join(counts, ", "))
}
