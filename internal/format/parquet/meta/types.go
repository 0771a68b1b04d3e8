package meta

import "fmt"

// Type is how a column's values are stored, by Parquet's numbers.
type Type int8

// Parquet's physical types.
const (
	Boolean Type = iota
	Int32
	Int64
	Int96
	Float
	Double
	ByteArray
	FixedLenByteArray
)

var typeNames = [...]string{"BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"}

func (t Type) String() string { return nameOf(typeNames[:], int(t), "type") }

// Encoding is how a page's values or levels are written, by Parquet's numbers.
type Encoding int8

// Parquet's encodings.
const (
	Plain                Encoding = 0
	PlainDictionary      Encoding = 2
	RLE                  Encoding = 3
	BitPacked            Encoding = 4
	DeltaBinaryPacked    Encoding = 5
	DeltaLengthByteArray Encoding = 6
	DeltaByteArray       Encoding = 7
	RLEDictionary        Encoding = 8
	ByteStreamSplit      Encoding = 9
)

var encodingNames = [...]string{"PLAIN", "", "PLAIN_DICTIONARY", "RLE", "BIT_PACKED", "DELTA_BINARY_PACKED",
	"DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY", "RLE_DICTIONARY", "BYTE_STREAM_SPLIT"}

func (e Encoding) String() string { return nameOf(encodingNames[:], int(e), "encoding") }

// PageKind is what a page holds, by Parquet's numbers. Kinds without a name
// here may come; Parquet lets readers pass over them.
type PageKind int8

// Parquet's kinds of pages.
const (
	DataPage PageKind = iota
	IndexPage
	DictionaryPage
	DataPageV2
)

var pageNames = [...]string{"data page", "index page", "dictionary page", "data page v2"}

func (k PageKind) String() string { return nameOf(pageNames[:], int(k), "page kind") }

// nameOf is names[i], or the number where there is no name.
func nameOf(names []string, i int, what string) string {
	if i >= 0 && i < len(names) && names[i] != "" {
		return names[i]
	}
	return fmt.Sprintf("%s %d", what, i)
}
