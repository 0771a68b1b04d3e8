package schematext

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
)

// alias are other words for simple types.
var alias = map[string]string{
	"boolean": "bool", "halffloat": "float16", "half_float": "float16", "float": "float32", "double": "float64",
	"utf8": "string", "large_utf8": "large_string", "date32[day]": "date32", "date64[ms]": "date64",
}

// mostDepth is how deep types may be nested.
const mostDepth = 64

// ParseType reads what Type wrote, and the words other Arrow tools use.
func ParseType(text string) (arrow.DataType, error) {
	p := &parser{text: text}
	t, err := p.typ(0)
	if err == nil {
		if p.space(); p.at < len(text) {
			err = p.wrong("the end")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("type %q: %w", text, err)
	}
	return t, nil
}

// parser reads a type from left to right.
type parser struct {
	text string
	at   int
}

func (p *parser) wrong(want string) error {
	if p.at == len(p.text) {
		return fmt.Errorf("it ends where %s should be", want)
	}
	return fmt.Errorf("at %q: %s should be there", p.text[p.at:], want)
}

func (p *parser) space() {
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
}

// eat takes a mark if it is next.
func (p *parser) eat(mark string) bool {
	p.space()
	if !strings.HasPrefix(p.text[p.at:], mark) {
		return false
	}
	p.at += len(mark)
	return true
}

func (p *parser) need(mark string) error {
	if !p.eat(mark) {
		return p.wrong("'" + mark + "'")
	}
	return nil
}

// word takes a name, with quotes or without.
func (p *parser) word() (string, error) {
	p.space()
	rest := p.text[p.at:]
	if strings.HasPrefix(rest, `"`) {
		d := json.NewDecoder(strings.NewReader(rest))
		var s string
		if err := d.Decode(&s); err != nil {
			return "", p.wrong("a name in quotes")
		}
		p.at += int(d.InputOffset())
		return s, nil
	}
	end := strings.IndexFunc(rest, func(r rune) bool { return !bare(r) })
	if end < 0 {
		end = len(rest)
	}
	if end == 0 {
		return "", p.wrong("a name")
	}
	p.at += end
	return rest[:end], nil
}

// number takes a whole one between two others.
func (p *parser) number(least, most int) (int, error) {
	p.space()
	start := p.at
	n, sign := 0, 1
	if p.at < len(p.text) && p.text[p.at] == '-' {
		sign = -1
		p.at++
	}
	digits := p.at
	for ; p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' && n <= math.MaxInt32; p.at++ {
		n = n*10 + int(p.text[p.at]-'0')
	}
	if n *= sign; p.at == digits || n < least || n > most {
		p.at = start
		return 0, p.wrong(fmt.Sprintf("a number from %d to %d", least, most))
	}
	return n, nil
}

func (p *parser) typ(depth int) (arrow.DataType, error) {
	if depth > mostDepth {
		return nil, fmt.Errorf("nested deeper than %d", mostDepth)
	}
	p.space()
	start := p.at
	name, err := p.word()
	if err != nil || p.text[start] == '"' {
		p.at = start
		return nil, p.wrong("a type")
	}
	if name == "date32" || name == "date64" {
		for _, unit := range []string{"[day]", "[ms]"} {
			if _, known := alias[name+unit]; known && p.eat(unit) {
				break
			}
		}
	}
	if other, ok := alias[name]; ok {
		name = other
	}
	if t, ok := simple[name]; ok {
		return t, nil
	}
	t, err := p.measured(name)
	if t == nil && err == nil {
		t, err = p.nested(name, depth+1)
	}
	if t == nil && err == nil {
		p.at = start
		err = p.wrong("a type such as int64, string, list<float32> or timestamp[us, tz=UTC]")
	}
	return t, err
}

// measured reads types with numbers or units; nil where name is none of them.
func (p *parser) measured(name string) (arrow.DataType, error) {
	switch name {
	case "fixed_size_binary":
		n, err := p.brackets(0, math.MaxInt32)
		return &arrow.FixedSizeBinaryType{ByteWidth: n}, err
	case "time32":
		u, _, err := p.unit("s", "ms")
		return &arrow.Time32Type{Unit: u}, err
	case "time64":
		u, _, err := p.unit("us", "ns")
		return &arrow.Time64Type{Unit: u}, err
	case "duration":
		u, _, err := p.unit("s", "ms", "us", "ns")
		return &arrow.DurationType{Unit: u}, err
	case "timestamp":
		u, tz, err := p.unit("s", "ms", "us", "ns", "tz")
		return &arrow.TimestampType{Unit: u, TimeZone: tz}, err
	case "decimal", "decimal128":
		prec, scale, err := p.decimal(38)
		return &arrow.Decimal128Type{Precision: prec, Scale: scale}, err
	case "decimal256":
		prec, scale, err := p.decimal(76)
		return &arrow.Decimal256Type{Precision: prec, Scale: scale}, err
	case "decimal64":
		prec, scale, err := p.decimal(18)
		return &arrow.Decimal64Type{Precision: prec, Scale: scale}, err
	case "decimal32":
		prec, scale, err := p.decimal(9)
		return &arrow.Decimal32Type{Precision: prec, Scale: scale}, err
	}
	return nil, nil
}

// brackets reads [n].
func (p *parser) brackets(least, most int) (int, error) {
	if err := p.need("["); err != nil {
		return 0, err
	}
	n, err := p.number(least, most)
	if err != nil {
		return 0, err
	}
	return n, p.need("]")
}

// unit reads [us], or [us, tz=UTC] where "tz" is allowed.
func (p *parser) unit(allowed ...string) (u arrow.TimeUnit, tz string, err error) {
	if err := p.need("["); err != nil {
		return 0, "", err
	}
	start := p.at
	name, err := p.word()
	u, known := units[name]
	if err != nil || !known || !contains(allowed, name) {
		p.at = start
		return 0, "", p.wrong("one of " + strings.Join(allowed, ", "))
	}
	if contains(allowed, "tz") && p.eat(",") {
		if err := p.need("tz="); err != nil {
			return 0, "", err
		}
		if tz, err = p.zone(); err != nil {
			return 0, "", err
		}
	}
	return u, tz, p.need("]")
}

// zone is a word; other tools write +01:00 without quotes.
func (p *parser) zone() (string, error) {
	rest := p.text[p.at:]
	end := strings.IndexByte(rest, ']')
	if strings.HasPrefix(rest, `"`) || end <= 0 || !utf8.ValidString(rest[:end]) {
		return p.word()
	}
	p.at += end
	return rest[:end], nil
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

// decimal reads (precision, scale).
func (p *parser) decimal(most int) (prec, scale int32, err error) {
	if err := p.need("("); err != nil {
		return 0, 0, err
	}
	a, err := p.number(1, most)
	if err != nil {
		return 0, 0, err
	}
	if err := p.need(","); err != nil {
		return 0, 0, err
	}
	b, err := p.number(-most, most)
	if err != nil {
		return 0, 0, err
	}
	return int32(a), int32(b), p.need(")")
}
