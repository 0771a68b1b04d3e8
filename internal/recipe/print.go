package recipe

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/weir-data/weir/internal/stage/scale"
)

// Print writes a recipe that Validate accepts, so that Parse reads the same.
// What is as by default is left out.
func Print(r *Recipe) []byte {
	p := &printer{}
	p.line(0, "# weir run recipe.yaml")
	printKeys(p, top(), 0, r)
	return []byte(p.String())
}

type printer struct{ strings.Builder }

func (p *printer) line(indent int, text string) {
	p.WriteString(strings.Repeat("  ", indent) + text + "\n")
}

func printKeys[T any](p *printer, keys []key[T], indent int, of *T) {
	for _, k := range keys {
		if isZero(k, of) {
			continue
		}
		if k.keys != nil {
			p.line(indent, k.name+": # "+k.doc)
			printKeys(p, k.keys, indent+1, of)
			continue
		}
		switch v := k.at(of).(type) {
		case *[]string:
			p.list(indent, k.name, *v)
		case *parts:
			p.parts(indent, k.name, v)
		case *[]Stage:
			p.line(indent, k.name+": # "+k.doc)
			for i := range *v {
				p.stage(indent+1, &(*v)[i])
			}
		default:
			p.line(indent, k.name+": "+plainText(v))
		}
	}
}

// isZero says that a key, or all keys of a section, are as by default.
func isZero[T any](k key[T], of *T) bool {
	if k.keys != nil {
		return allZero(k.keys, of)
	}
	switch v := k.at(of).(type) {
	case *string:
		return *v == "" || *v == k.none
	case *int:
		return *v == 0
	case *uint64:
		return *v == 0
	case *float64:
		return *v == 0
	case *bool:
		return !*v
	case *Size:
		return *v == 0
	case *[]string:
		return len(*v) == 0 && (*v == nil || !k.empty)
	case *parts:
		return len(v.Names) == 0
	case *[]Stage:
		return len(*v) == 0
	}
	return false
}

func allZero[T any](keys []key[T], of *T) bool {
	for _, k := range keys {
		if !isZero(k, of) {
			return false
		}
	}
	return true
}

func plainText(v any) string {
	switch v := v.(type) {
	case *string:
		return quote(*v)
	case *int:
		return strconv.Itoa(*v)
	case *uint64:
		return strconv.FormatUint(*v, 10)
	case *float64:
		return strconv.FormatFloat(*v, 'f', -1, 64) // without an exponent: to version 1.1 of YAML 1e-05 is a text
	case *bool:
		return strconv.FormatBool(*v)
	case *Size:
		return sizeText(*v)
	}
	return ""
}

// sizeText is exact: mem.Format rounds.
func sizeText(n Size) string {
	for _, u := range []struct {
		n    Size
		name string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n%u.n == 0 {
			return fmt.Sprintf("%d%s", n/u.n, u.name)
		}
	}
	return strconv.FormatInt(int64(n), 10)
}

// mostLine is how long a list in brackets may become.
const mostLine = 100

func (p *printer) list(indent int, name string, all []string) {
	var words []string
	for _, t := range all {
		words = append(words, quote(t))
	}
	if text := name + ": [" + strings.Join(words, ", ") + "]"; len(text) <= mostLine {
		p.line(indent, text)
		return
	}
	p.line(indent, name+":")
	for _, w := range words {
		p.line(indent+1, "- "+w)
	}
}

func (p *printer) parts(indent int, name string, v *parts) {
	if len(v.Weights) != len(v.Names) {
		p.list(indent, name, v.Names)
		return
	}
	p.line(indent, name+":")
	for i, n := range v.Names {
		p.line(indent+1, quote(n)+": "+strconv.Itoa(v.Weights[i]))
	}
}

func (p *printer) stage(indent int, s *Stage) {
	k, _ := kindOf(s.Name)
	if k.family() == table {
		p.line(indent, "- "+s.Name+":")
		p.rules(indent+2, s.Rules)
		printKeys(p, k.keys, indent+1, s)
		return
	}
	if allZero(k.keys, s) {
		p.line(indent, "- "+s.Name+": {}")
		return
	}
	p.line(indent, "- "+s.Name+":")
	printKeys(p, k.keys, indent+2, s)
}

func (p *printer) rules(indent int, rules []scale.Rule) {
	for _, r := range rules {
		p.line(indent, quote(r.Column)+": "+quote(r.Do))
	}
}

// bare is what needs no quotes anywhere in YAML: with a digit in front, only
// sizes, since dates, times and some numbers are not texts to version 1.1.
var bare = regexp.MustCompile(`^[A-Za-z_/][A-Za-z0-9_/.*:+%-]*$|^[0-9]+(\.[0-9]+)?([KMGT]i?B|%)$`)

// quote writes a text so that YAML gives it back, the tools that read version
// 1.1 included.
func quote(text string) string {
	if bare.MatchString(text) && !strings.HasSuffix(text, ":") {
		switch strings.ToLower(text) {
		case "null", "true", "false", "yes", "no", "on", "off", "y", "n":
		default:
			return text
		}
	}
	return strconv.Quote(text)
}
