package csv

import (
	"bytes"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/weir-data/weir/internal/format"
)

// delimiters are those that are guessed, in the order of preference.
var delimiters = []byte{',', '\t', ';', '|'}

// sniff takes what is called a CSV, and text whose lines all have the same
// number of some delimiter.
func sniff(c format.Clue) bool {
	switch path.Ext(c.Name) {
	case ".csv", ".tsv", ".tab", ".psv":
		return true
	case ".txt", ".text", ".md", ".log", ".rst", ".json", ".jsonl", ".ndjson":
		return false
	}
	head := bytes.TrimPrefix(c.Head, bom)
	if bytes.IndexByte(head, 0) >= 0 || !utf8.Valid(head[:bytes.LastIndexByte(head, '\n')+1]) {
		return false
	}
	if len(head) > 0 && (head[0] == '{' || head[0] == '[' || head[0] == '<') {
		return false // JSON and XML have commas too
	}
	whole := len(c.Head) < sniffBytes
	for _, d := range delimiters {
		if fields, records, agree := newDialect(d).count(head, whole); agree == records && records > 1 && fields > 1 {
			return true
		}
	}
	return false
}

// sniffBytes is what a Clue has of a file that is longer.
const sniffBytes = 4 << 10

// named is the delimiter that a file's name tells; 0: none.
func named(url string) byte {
	name := strings.ToLower(path.Base(url))
	for range 2 { // the last ending may be that of a compression
		ext := path.Ext(name)
		switch ext {
		case ".tsv", ".tab":
			return '\t'
		case ".psv":
			return '|'
		}
		name = strings.TrimSuffix(name, ext)
	}
	return 0
}

// guess is the delimiter that the records at the front of data agree about:
// all of them have the same number of fields, more than with any other. Where
// they do not quite agree it is the one with the most that do; where there is
// none, a comma.
func guess(data []byte, final bool) byte {
	best, bestAgree, bestFields := byte(','), 0.0, 0
	for _, d := range delimiters {
		fields, records, agree := newDialect(d).count(data, final)
		if fields < 2 {
			continue
		}
		share := float64(agree) / float64(records)
		if share > bestAgree || share == bestAgree && fields > bestFields {
			best, bestAgree, bestFields = d, share, fields
		}
	}
	return best
}

const (
	guessBytes   = 256 << 10
	guessRecords = 200
)

// count is how many fields most of the records at the front of data have, and
// how many of these records that are. Where data goes on, the last record does
// not count.
func (d dialect) count(data []byte, final bool) (fields, records, agree int) {
	if len(data) > guessBytes {
		data, final = data[:guessBytes], false
	}
	seen := map[int]int{}
	for i := 0; i < len(data) && records < guessRecords; {
		if n := blank(data[i:]); n > 0 {
			i += n
			continue
		}
		n, after, err := d.fields(data, i)
		if !final && (after == len(data) || err != nil) {
			break
		}
		if err != nil {
			after = d.recordEnd(data, i)
		} else {
			seen[n]++
		}
		i = after
		records++
	}
	for n, times := range seen {
		if times > agree || times == agree && n > fields {
			fields, agree = n, times
		}
	}
	return fields, records, agree
}

// fields counts those of the record at i.
func (d dialect) fields(data []byte, i int) (n, after int, err error) {
	for last := false; !last; n++ {
		if _, i, last, err = d.next(data, i); err != nil {
			return n, len(data), err
		}
	}
	return n, i, nil
}
