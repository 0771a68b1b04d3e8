package feed

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/recipe"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/store"
)

// Env is what a loader needs of its process.
type Env struct {
	Store   store.ReadWriter
	Formats []format.Format
	// Options makes options of how to read; its errors are usage errors.
	Options func(Read) (format.Options, error)
	// Memory makes bytes of the text of a configuration, and Setup makes
	// them the limit of the process.
	Memory  func(string) (int64, error)
	Setup   func(int64) *mem.Budget
	Threads func() int // where the configuration has none
	Version string
}

// defaultSplit is read of a prepared directory if no other is named.
const defaultSplit = "train"

// open plans the reading of a source with some of its columns; none: all.
func (l *loader) open(ctx context.Context, s Source, columns []string) (*run.Reading, error) {
	paths, err := l.place(ctx, s)
	if err != nil {
		return nil, err
	}
	opt, err := l.env.Options(l.Read)
	if err != nil {
		return nil, err
	}
	opt.Columns, opt.Threads, opt.Index = columns, l.threads, l.Mode != scanning
	if l.Mode == scanning {
		opt.BatchRows = l.BatchSize
	}
	limit, _ := mem.ContainerLimit()
	return run.Open(ctx, run.Config{
		Paths: paths, Options: opt, Format: l.Read.Format, Store: l.env.Store, Formats: l.env.Formats,
		CacheLimit: limit, Memory: l.memory, Budget: l.budget, SkipBad: l.Read.OnError == "skip",
	})
}

// place finds the directory of a split.
func (l *loader) place(ctx context.Context, s Source) ([]string, error) {
	if len(s.Paths) > 1 || strings.ContainsAny(s.Paths[0], "*?[") {
		if s.Split != "" {
			return nil, format.Error(format.ErrUsage, "split %q: only of one directory, these are several paths", s.Split)
		}
		return s.Paths, nil
	}
	url := s.Paths[0]
	below := func(name string) []string { return []string{strings.TrimRight(url, "/") + "/" + name + "/"} }
	at := dataset.Place{Store: l.env.Store, URL: url, Share: l.budget}
	m, err := dataset.Load(ctx, at, dataset.Visit{})
	if l.Global && (err != nil || !shuffled(m)) {
		return nil, format.Error(format.ErrUsage, "%s is not what weir shuffle has written; put its rows in a random order first: weir shuffle %s -o NEW/", url, url)
	}
	if err != nil {
		if s.Split != "" {
			return below(s.Split), nil // the listing says what is wrong with it
		}
		if errors.Is(err, format.ErrData) {
			return nil, err
		}
		return s.Paths, nil
	}
	want := s.Split
	switch {
	case want == "" && len(m.Splits) == 1:
		want = m.Splits[0].Name
	case want == "":
		want = defaultSplit
	}
	var names []string
	for _, split := range m.Splits {
		names = append(names, split.Name)
	}
	if !slices.Contains(names, want) {
		return nil, format.Error(format.ErrUsage, "%s: there is no split %q; there are %s", url, want, strings.Join(names, ", "))
	}
	if len(names) == 1 {
		return []string{strings.TrimRight(url, "/") + "/"}, nil // where there may be an index of its files
	}
	return below(want), nil
}

// shuffled says that a dataset's rows are in a random order.
func shuffled(m *dataset.Manifest) bool {
	r, err := recipe.Parse([]byte(m.Recipe), "")
	return err == nil && slices.ContainsFunc(r.Stages, func(s recipe.Stage) bool { return s.Shuffle != nil })
}
