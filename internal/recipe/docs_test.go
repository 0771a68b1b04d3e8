package recipe

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestRecipesOfTheDocumentationParse(t *testing.T) {
	r := parsed(t, read(t, "../../examples/finetune.yaml"))
	if !r.Corpus() || len(r.Stages) != len(stageNames(corpus)) {
		t.Errorf("finetune.yaml has the stages %+v", r.Stages)
	}
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(read(t, "../../docs/recipes.md"), -1)
	if len(blocks) == 0 {
		t.Error("no recipe in recipes.md")
	}
	for _, b := range blocks {
		parsed(t, b[1])
	}
}

func TestDocumentationNamesEveryKey(t *testing.T) {
	text := read(t, "../../docs/recipes.md")
	var paths []string
	var collect func(keys []key[Recipe], field string)
	collect = func(keys []key[Recipe], field string) {
		for _, k := range keys {
			if k.keys == nil {
				paths = append(paths, join(field, k.name))
			}
			collect(k.keys, join(field, k.name))
		}
	}
	collect(top(), "")
	for _, k := range kinds() {
		paths = append(paths, k.name)
		for _, option := range k.keys {
			if k.family() == corpus {
				paths = append(paths, join(k.name, option.name))
			} else {
				paths = append(paths, option.name)
			}
		}
	}
	for _, p := range paths {
		if !strings.Contains(text, "`"+p+"`") && !strings.Contains(text, "`"+p+": ") && p != "split.range.bounds" { // which stands beside its column
			t.Errorf("recipes.md does not tell of %s", p)
		}
	}
}
