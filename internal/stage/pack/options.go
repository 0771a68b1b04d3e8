// Package pack puts tokenised documents together in rows of one length.
//
// Documents are gathered in a window of bounded bytes; then each is given a row.
// Rows that are not full enough may wait for the documents of the next window.
// What comes out is a function of the documents and the options alone, and after
// Flush nothing is left behind.
package pack

import (
	"math"

	"github.com/weir-data/weir/internal/format"
)

// The ways to give documents rows.
const (
	BestFit  = "best-fit"  // longest first, each to the fullest row that has room for it
	FirstFit = "first-fit" // in order, each to the first row that has room for it
	Concat   = "concat"    // one after the other, cut where a row ends
)

// What becomes of documents longer than a row, unless they are concatenated.
const (
	Split    = "split"    // pieces of the row's length and a rest, each a document
	Truncate = "truncate" // what is beyond the length is cut off
	Drop     = "drop"
)

// Options say how to pack. The zero value of everything but Length is of use.
type Options struct {
	Length    int    // tokens of a row
	Method    string // "": BestFit
	Long      string // "": Split
	Pad       int32  // token behind the last document of a row
	LookAhead int64  // bytes of tokens that a window has at most; 0: 32 MiB
	Tokens    string // column; "": input_ids
	Labels    string // column, which need not be there; "": labels
}

// Ignore is the label of tokens that are not learned: padding has it.
const Ignore = -100

// filled has the defaults in the place of nothing.
func (o Options) filled() Options {
	set := func(s *string, to string) {
		if *s == "" {
			*s = to
		}
	}
	set(&o.Method, BestFit)
	set(&o.Long, Split)
	set(&o.Tokens, "input_ids")
	set(&o.Labels, "labels")
	if o.LookAhead == 0 {
		o.LookAhead = 32 << 20
	}
	return o
}

// mostLength keeps the elements of a batch countable.
const mostLength = math.MaxInt32 / 64

// Validate checks what can be checked without a schema; mistakes are ErrUsage.
func (o Options) Validate() error {
	o = o.filled()
	if o.Length < 1 || o.Length > mostLength {
		return format.Error(format.ErrUsage, "pack: length: %d is not between 1 and %d", o.Length, mostLength)
	}
	if o.Method != BestFit && o.Method != FirstFit && o.Method != Concat {
		return format.Error(format.ErrUsage, "pack: method: %q is not one of %s, %s, %s", o.Method, BestFit, FirstFit, Concat)
	}
	if o.Long != Split && o.Long != Truncate && o.Long != Drop {
		return format.Error(format.ErrUsage, "pack: long: %q is not one of %s, %s, %s", o.Long, Split, Truncate, Drop)
	}
	if o.LookAhead < 0 {
		return format.Error(format.ErrUsage, "pack: look-ahead: %d bytes", o.LookAhead)
	}
	return nil
}

// Report counts what was packed.
type Report struct {
	Documents int64 `json:"documents"` // that were added
	Empty     int64 `json:"empty"`     // of them without a token
	Tokens    int64 `json:"tokens"`    // of all documents
	Rows      int64 `json:"rows"`      // that were made
	Placed    int64 `json:"placed"`    // tokens in them
	Split     int64 `json:"split"`     // documents that were cut in pieces
	Truncated int64 `json:"truncated"` // documents whose end was cut off
	Dropped   int64 `json:"dropped"`   // documents that were left out
	Lost      int64 `json:"lost"`      // tokens that were cut off or left out
}

// Fill is the part of the rows that are tokens and not padding; of no rows it is
// 1.
func (r Report) Fill(length int) float64 {
	if r.Rows == 0 {
		return 1
	}
	return float64(r.Placed) / (float64(r.Rows) * float64(length))
}
