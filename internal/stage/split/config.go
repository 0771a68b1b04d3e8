package split

import (
	"fmt"
	"strings"

	"github.com/weir-data/weir/internal/format"
)

const (
	// mostSplits is what a byte counts.
	mostSplits = 255
	// mostName keeps names good for paths everywhere.
	mostName = 64
	// mostWeight keeps sums far from overflowing.
	mostWeight = 1_000_000_000
)

// hashed says that weights decide how large splits are.
func (c Config) hashed() bool {
	return c.Range.Column == "" && c.Column == "" && !c.FromDirs
}

// filled has the defaults in the place of nothing.
func (c Config) filled() Config {
	if len(c.Names) > 0 {
		return c
	}
	c.Names = []string{"train", "val", "test"}
	if c.hashed() {
		c.Weights = []int{80, 10, 10}
	}
	if c.Range.Column != "" && len(c.Range.Bounds) == 1 {
		c.Names = []string{"train", "test"}
	}
	return c
}

// Validate checks what can be checked without a schema. Its errors are
// of type Mistake.
func (c Config) Validate() error {
	if err := c.modes(); err != nil {
		return err
	}
	if len(c.Names) == 0 && len(c.Weights) > 0 {
		return usage("weights", "there are %d, and no names", len(c.Weights))
	}
	c = c.filled()
	if err := checkNames(c.Names); err != nil {
		return err
	}
	if c.hashed() {
		return c.weights()
	}
	if len(c.Weights) > 0 {
		return usage("weights", "weights mean nothing where %s decides; name the splits alone: %s", c.decider(), strings.Join(c.Names, ","))
	}
	if n := len(c.Range.Bounds); c.Range.Column != "" && n != len(c.Names)-1 {
		return usage("range", "%s between %d splits (%s); there must be %d",
			count(n, "bound"), len(c.Names), strings.Join(c.Names, ", "), len(c.Names)-1)
	}
	return nil
}

// modes checks that one rule decides.
func (c Config) modes() error {
	var set []string
	for _, m := range []struct {
		name string
		set  bool
	}{
		{"by", len(c.By) > 0}, {"range", c.Range.Column != ""}, {"column", c.Column != ""},
		{"from_dirs", c.FromDirs}, {"stratify", c.Stratify != ""},
	} {
		if m.set {
			set = append(set, m.name)
		}
	}
	if len(set) > 1 {
		return usage(set[1], "not together with %s: one of them decides", set[0])
	}
	if c.Range.Column == "" && len(c.Range.Bounds) > 0 {
		return usage("range", "bounds without a column")
	}
	for i, name := range c.By {
		if name == "" {
			return usage("by", "a column without a name")
		}
		for _, other := range c.By[:i] {
			if name == other {
				return usage("by", "%q is named twice", name)
			}
		}
	}
	return nil
}

// decider names what decides in the place of weights.
func (c Config) decider() string {
	switch {
	case c.Range.Column != "":
		return "a range"
	case c.Column != "":
		return "a column"
	}
	return "the directory"
}

func (c Config) weights() error {
	if len(c.Weights) == 0 {
		return usage("weights", "%s has no weight, such as %s=80", c.Names[0], c.Names[0])
	}
	if len(c.Weights) != len(c.Names) {
		return usage("weights", "%d for %s", len(c.Weights), count(len(c.Names), "name"))
	}
	for i, w := range c.Weights {
		if w < 1 || w > mostWeight {
			return usage("weights", "%s=%d: a weight is 1 to %d", c.Names[i], w, mostWeight)
		}
	}
	return nil
}

// checkNames holds names to what is safe as a directory's name everywhere.
func checkNames(names []string) error {
	if len(names) > mostSplits {
		return usage("names", "%d splits; %d are the most", len(names), mostSplits)
	}
	seen := make(map[string]string, len(names))
	for _, name := range names {
		if !goodName(name) {
			return usage("names", "%q cannot be a split's name: use up to %d letters, digits and _ - . of which the first is a letter, a digit or _", name, mostName)
		}
		lower := strings.ToLower(name)
		if other, ok := seen[lower]; ok {
			return usage("names", "%q and %q would be one directory on some systems", other, name)
		}
		seen[lower] = name
	}
	return nil
}

func goodName(name string) bool {
	if name == "" || len(name) > mostName || name[0] == '.' || name[0] == '-' {
		return false
	}
	for _, r := range name {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-', r == '.':
		default:
			return false
		}
	}
	return true
}

// Mistake is an error of a configuration. Its kind is format.ErrUsage.
type Mistake struct {
	// Field is names, weights, by, range, column, from_dirs or stratify.
	Field string
	// Err is the cause alone.
	Err error
}

// Error names the field and the cause.
func (m *Mistake) Error() string { return "split: " + m.Field + ": " + m.Err.Error() }

// Unwrap is the cause.
func (m *Mistake) Unwrap() error { return m.Err }

// Is makes every Mistake a format.ErrUsage.
func (m *Mistake) Is(target error) bool { return target == format.ErrUsage }

func usage(field, text string, args ...any) error {
	return &Mistake{Field: field, Err: fmt.Errorf(text, args...)}
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// few lists the first names.
func few(names []string) string {
	const most = 12
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}
