package recipe

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/weir-data/weir/internal/format"
)

// family is what a recipe makes. Stages of two do not mix.
type family int

const (
	either family = iota
	table         // impute, scale and encode, with splits and a label
	corpus        // dedup, tokenize, pack and shuffle
)

// family is the one that a kind of stage belongs to.
func (k kind) family() family {
	if k.words == nil {
		return corpus
	}
	return table
}

func kindOf(name string) (kind, bool) {
	for _, k := range kinds() {
		if k.name == name {
			return k, true
		}
	}
	return kind{}, false
}

// stageNames are those of a family's stages, in the order in which they work.
func stageNames(of family) (names []string) {
	for _, k := range kinds() {
		if of == either || k.family() == of {
			names = append(names, k.name)
		}
	}
	return names
}

// owner is the stage that has an option, among those whose options stand under
// them; empty: none.
func owner(option string) string {
	for _, k := range kinds() {
		if _, ok := find(k.keys, option); ok && k.family() == corpus {
			return k.name
		}
	}
	return ""
}

// checkFamily holds a recipe to the stages and keys of one family. Without
// stages it is a table's.
func (r *Recipe) checkFamily() error {
	mine, first := table, ""
	for _, s := range r.Stages {
		k, ok := kindOf(s.Name)
		switch {
		case !ok:
			return r.wrong("stages", fmt.Sprintf("unknown stage %q", s.Name))
		case first == "":
			mine, first = k.family(), s.Name
		case k.family() != mine:
			return r.wrong("stages."+s.Name, fmt.Sprintf("not in one recipe with %s: a table has %s; a corpus has %s",
				first, strings.Join(stageNames(table), ", "), strings.Join(stageNames(corpus), ", ")))
		}
	}
	if mine == table && r.Write.Format != "" {
		return r.wrong("write.format", fmt.Sprintf("%q goes with %s; a table is written as parquet", r.Write.Format, format.OneOf(stageNames(corpus))))
	}
	if strings.Contains(r.Scratch, "://") {
		return r.wrong("scratch", fmt.Sprintf("%q is not a directory of this machine", r.Scratch))
	}
	return r.misplaced(top(), "", mine, first)
}

// misplaced refuses keys of the other family than that of the first stage.
func (r *Recipe) misplaced(keys []key[Recipe], field string, mine family, first string) error {
	for _, k := range keys {
		path := join(field, k.name)
		if isZero(k, r) {
			continue
		}
		if k.of != either && k.of != mine {
			why := "it goes with " + format.OneOf(stageNames(k.of))
			if first != "" {
				why += ", not with " + first
			}
			if stage := owner(k.name); stage != "" {
				why += "; " + stage + " has one of its own"
			}
			return r.wrong(path, why)
		}
		if err := r.misplaced(k.keys, path, mine, first); err != nil {
			return err
		}
	}
	return nil
}

// checkStages holds stages to the order in which they work, each once, and
// each to what its kind allows.
func (r *Recipe) checkStages() error {
	next := 0
	for i := range r.Stages {
		s := &r.Stages[i]
		for at, k := range kinds() {
			if k.name != s.Name {
				continue
			}
			if at < next {
				return r.wrong("stages."+s.Name, "stages come once each, in the order "+strings.Join(stageNames(k.family()), ", "))
			}
			next = at + 1
			if err := r.checkStage(k, s); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *Recipe) checkStage(k kind, s *Stage) error {
	field := "stages." + k.name
	if want := k.fresh(); (s.Dedup == nil) != (want.Dedup == nil) || (s.Tokenize == nil) != (want.Tokenize == nil) ||
		(s.Pack == nil) != (want.Pack == nil) || (s.Shuffle == nil) != (want.Shuffle == nil) {
		return r.wrong(field, "its options are missing, or another stage's are there")
	}
	if k.family() == table && len(s.Rules) == 0 {
		return r.wrong(field, "no column has a rule")
	}
	if k.family() == corpus && len(s.Rules) > 0 {
		return r.wrong(field, "it has no rules for columns")
	}
	for _, rule := range s.Rules {
		if why := unknown(k.words, rule.Do); why != "" {
			return r.Blame(field+"."+rule.Column, fmt.Errorf("%q: %s", rule.Column, why))
		}
		if rule.Column == "" || !utf8.ValidString(rule.Column+rule.Do) {
			return r.wrong(field, "a column without a name, or not in UTF-8")
		}
	}
	if err := check(k.keys, field, s, r); err != nil {
		return err
	}
	var key, why string
	switch {
	case s.Dedup != nil:
		key, why = s.Dedup.mistake()
	case s.Tokenize != nil:
		key, why = s.Tokenize.mistake()
	}
	if why != "" {
		return r.wrong(join(field, key), why)
	}
	return nil
}
