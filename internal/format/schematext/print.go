package schematext

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
)

// simple are the types that are one word, by the word that is printed.
var simple = map[string]arrow.DataType{
	"null": arrow.Null, "bool": arrow.FixedWidthTypes.Boolean,
	"int8": arrow.PrimitiveTypes.Int8, "int16": arrow.PrimitiveTypes.Int16,
	"int32": arrow.PrimitiveTypes.Int32, "int64": arrow.PrimitiveTypes.Int64,
	"uint8": arrow.PrimitiveTypes.Uint8, "uint16": arrow.PrimitiveTypes.Uint16,
	"uint32": arrow.PrimitiveTypes.Uint32, "uint64": arrow.PrimitiveTypes.Uint64,
	"float16": arrow.FixedWidthTypes.Float16, "float32": arrow.PrimitiveTypes.Float32,
	"float64": arrow.PrimitiveTypes.Float64,
	"string":  arrow.BinaryTypes.String, "large_string": arrow.BinaryTypes.LargeString,
	"string_view": arrow.BinaryTypes.StringView,
	"binary":      arrow.BinaryTypes.Binary, "large_binary": arrow.BinaryTypes.LargeBinary,
	"binary_view": arrow.BinaryTypes.BinaryView,
	"date32":      arrow.FixedWidthTypes.Date32, "date64": arrow.FixedWidthTypes.Date64,
	"month_interval":          arrow.FixedWidthTypes.MonthInterval,
	"day_time_interval":       arrow.FixedWidthTypes.DayTimeInterval,
	"month_day_nano_interval": arrow.FixedWidthTypes.MonthDayNanoInterval,
}

// spelling turns simple round.
var spelling = func() map[arrow.Type]string {
	out := make(map[arrow.Type]string)
	for name, t := range simple {
		out[t.ID()] = name
	}
	return out
}()

// units are those of times.
var units = map[string]arrow.TimeUnit{"s": arrow.Second, "ms": arrow.Millisecond, "us": arrow.Microsecond, "ns": arrow.Nanosecond}

// Type spells a type so that ParseType reads it.
func Type(t arrow.DataType) string {
	if name, ok := spelling[t.ID()]; ok {
		return name
	}
	switch t := t.(type) {
	case *arrow.FixedSizeBinaryType:
		return fmt.Sprintf("fixed_size_binary[%d]", t.ByteWidth)
	case arrow.DecimalType:
		bits := map[arrow.Type]int{arrow.DECIMAL32: 32, arrow.DECIMAL64: 64, arrow.DECIMAL128: 128, arrow.DECIMAL256: 256}
		return fmt.Sprintf("decimal%d(%d, %d)", bits[t.ID()], t.GetPrecision(), t.GetScale())
	case *arrow.Time32Type:
		return fmt.Sprintf("time32[%s]", t.Unit)
	case *arrow.Time64Type:
		return fmt.Sprintf("time64[%s]", t.Unit)
	case *arrow.DurationType:
		return fmt.Sprintf("duration[%s]", t.Unit)
	case *arrow.TimestampType:
		if t.TimeZone == "" {
			return fmt.Sprintf("timestamp[%s]", t.Unit)
		}
		return fmt.Sprintf("timestamp[%s, tz=%s]", t.Unit, word(t.TimeZone))
	case arrow.ExtensionType:
		return Type(t.StorageType())
	}
	return nested(t)
}

func nested(t arrow.DataType) string {
	switch t := t.(type) {
	case *arrow.MapType:
		text := "map<" + Type(t.KeyType()) + ", " + Type(t.ItemType()) + notNull(t.ItemField())
		if t.KeysSorted {
			text += ", keys_sorted"
		}
		return text + ">"
	case *arrow.ListType:
		return "list<" + item(t.ElemField()) + ">"
	case *arrow.LargeListType:
		return "large_list<" + item(t.ElemField()) + ">"
	case *arrow.FixedSizeListType:
		return fmt.Sprintf("fixed_size_list<%s>[%d]", item(t.ElemField()), t.Len())
	case *arrow.StructType:
		var fields []string
		for _, f := range t.Fields() {
			fields = append(fields, word(f.Name)+": "+Type(f.Type)+notNull(f))
		}
		return "struct<" + strings.Join(fields, ", ") + ">"
	case *arrow.DictionaryType:
		text := "dictionary<values=" + Type(t.ValueType) + ", indices=" + Type(t.IndexType)
		if t.Ordered {
			text += ", ordered"
		}
		return text + ">"
	}
	return t.String() // unions and the like: to look at only
}

// itemName is what the elements of a list are called unless they are not.
const itemName = "item"

func item(f arrow.Field) string {
	if f.Name == itemName {
		return Type(f.Type) + notNull(f)
	}
	return word(f.Name) + ": " + Type(f.Type) + notNull(f)
}

func notNull(f arrow.Field) string {
	if f.Nullable {
		return ""
	}
	return " not null"
}

// bare says whether a rune stands in a word without quotes.
func bare(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-+./", r))
}

// word is a name, in quotes where it needs them.
func word(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !bare(r) }) {
		return s
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil {
		return `""` // a string can always be encoded
	}
	return strings.TrimSuffix(b.String(), "\n")
}
