package dataset

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"syscall"
)

// Bounds on what a manifest or a plan may name.
const (
	mostSplits = 4096
	mostArrays = 4096
	mostName   = 255
	mostDigest = 128
)

// Part is one file of a split's rows.
type Part struct {
	Name   string `json:"name"` // in its split's directory; see PartName
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`
	Digest string `json:"digest"`                 // of its rows, as the caller's check takes it
	Raw    int64  `json:"uncompressed,omitempty"` // bytes, of a file that is compressed as a whole; 0: it is not
}

// Array is a NumPy file of all of a split's rows, in the order of its parts. As
// a Part its name is that in the dataset's directory. Without a shape it is a
// file that tells readers of a format which parts there are.
type Array struct {
	Part
	Shape   []int64  `json:"shape,omitzero"` // the first is Rows
	Dtype   string   `json:"dtype,omitzero"` // as NumPy names it
	Columns []string `json:"columns,omitzero"`
}

// Split is one of a dataset's divisions, and the sums over its parts.
type Split struct {
	Name   string
	Prefix string // its directory: Name and a slash
	Rows   int64
	Bytes  int64
	Parts  int64
}

// add counts a part, which must be the next.
func (s *Split) add(p Part) error {
	if err := p.check(s.Parts); err != nil {
		return err
	}
	if s.Rows > math.MaxInt64-p.Rows || s.Bytes > math.MaxInt64-p.Bytes {
		return fmt.Errorf("%q: more rows or bytes than can be counted", p.Name)
	}
	s.Rows += p.Rows
	s.Bytes += p.Bytes
	s.Parts++
	return nil
}

// check says whether p can be a split's nth part.
func (p Part) check(n int64) error {
	if got, ok := partNumber(p.Name); !ok || got != n {
		return fmt.Errorf("%.99q is not the name of part %d", p.Name, n)
	}
	return p.checkSums()
}

// checkSums says whether p's numbers can be those of a file.
func (p Part) checkSums() error {
	if p.Rows < 0 || p.Bytes < 0 || p.Raw < 0 {
		return fmt.Errorf("%q: a negative number of rows or bytes", p.Name)
	}
	if p.Digest == "" || len(p.Digest) > mostDigest || strings.ContainsFunc(p.Digest, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fmt.Errorf("%q: %.99q is not a digest", p.Name, p.Digest)
	}
	return nil
}

func (a Array) check() error {
	if err := checkName(a.Name); err != nil {
		return err
	}
	if a.Shape == nil && a.Dtype == "" && a.Columns == nil {
		return a.checkSums()
	}
	// A vector has one column, a matrix as many as a row has values, or one of
	// lists.
	row := int64(1)
	if len(a.Shape) == 2 && len(a.Columns) != 1 {
		row = a.Shape[1]
	}
	if len(a.Shape) < 1 || len(a.Shape) > 2 || a.Shape[0] != a.Rows || row != int64(len(a.Columns)) {
		return fmt.Errorf("%q: %d rows of %d columns do not have the shape %v", a.Name, a.Rows, len(a.Columns), a.Shape)
	}
	return a.checkSums()
}

// checkName says whether a split or a file may be called that: one step of a
// path, which listings show and which is not the manifest.
func checkName(name string) error {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.=+@", r)
	}
	switch {
	case name == "" || len(name) > mostName,
		strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }),
		name[0] == '.' || name[0] == '_',
		name == manifestName:
		return fmt.Errorf("%.99q: a split or file is named with letters, digits and - _ . = + @, not with . or _ first", name)
	}
	return nil
}

// checkNames looks at several of one kind.
func checkNames(kind string, names []string, most int) error {
	if len(names) > most {
		return fmt.Errorf("%d %ss, at most %d can be", len(names), kind, most)
	}
	seen := make(map[string]bool, len(names))
	for _, n := range names {
		if err := checkName(n); err != nil {
			return err
		}
		if seen[n] {
			return fmt.Errorf("%s %q is there twice", kind, n)
		}
		seen[n] = true
	}
	return nil
}

// partNumber reads what PartName wrote.
func partNumber(name string) (int64, bool) {
	digits, ext, dot := strings.Cut(strings.TrimPrefix(name, "part-"), ".")
	n, err := strconv.ParseInt(digits, 10, 62)
	if err != nil || n < 0 || len(name) > mostName || dot && checkName(ext) != nil {
		return 0, false
	}
	return n, strings.TrimSuffix(name, "."+ext) == PartName(n, "")
}

// splitsOf are empty splits with these names.
func splitsOf(names []string) []Split {
	out := make([]Split, len(names))
	for i, n := range names {
		out[i] = Split{Name: n, Prefix: n + "/"}
	}
	return out
}

// notEmpty is the system's word for a directory that cannot go yet.
func notEmpty(err error) bool {
	return errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.EEXIST)
}
