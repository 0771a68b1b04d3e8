package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/weir-data/weir/internal/recipe"
	"github.com/weir-data/weir/internal/run/corpus"
	"github.com/weir-data/weir/internal/watch"
)

// cookCorpus carries the recipe of a corpus out.
func (a *app) cookCorpus(ctx context.Context, r *recipe.Recipe, read *readFlags, f *cookFlags) error {
	show := &watch.Progress{Out: a.err, Width: func() int { w, _ := a.terminal(); return w }}
	c, err := a.corpusConfig(r, read, show)
	if err != nil {
		return err
	}
	a.begin(&c.Run, f.quiet, show)
	line := new(watch.Timeline)
	c.Force = f.force
	c.Run.Observe = watch.All(line.Observe, c.Run.Observe)
	rep, err := corpus.Run(ctx, c)
	show.Clear()
	if err == nil {
		err = a.told(watch.Corpus(rep, c, line), f.quiet, reportFile(f.report))
	}
	if err != nil {
		return &runError{err}
	}
	return nil
}

// corpusConfig turns a recipe into a run; its errors are usage errors.
func (a *app) corpusConfig(r *recipe.Recipe, read *readFlags, show io.Writer) (corpus.Config, error) {
	c, log, err := a.readConfig(r, read, show)
	if err != nil {
		return corpus.Config{}, err
	}
	name := r.Write.Format
	if name == "" {
		name = "parquet"
	}
	writer, err := pickWriter(a.writers, name, r.Write.Path)
	if err != nil {
		return corpus.Config{}, r.Blame("write.format", err)
	}
	out := corpus.Config{
		Run: c, Store: a.store(), Out: r.Write.Path, Scratch: scratch(r), Writer: writer, Write: r.Write.Options(c.Options.Threads),
		Recipe: plain(r), Seed: r.Seed, Version: "weir " + version, Note: func(text string) { log.Warn(text) },
	}
	for _, s := range r.Stages {
		switch {
		case s.Dedup != nil:
			out.Dedup = &corpus.Dedup{By: s.Dedup.By, Normalize: s.Dedup.Normalize}
		case s.Shuffle != nil:
			out.Shuffle = true
		}
	}
	return out, nil
}

// scratch is where scratch files go: what the recipe says, or else beside an
// output on disk, or else where the system keeps such files.
func scratch(r *recipe.Recipe) string {
	switch {
	case r.Scratch != "":
		return r.Scratch
	case !strings.Contains(r.Write.Path, "://"):
		return strings.TrimRight(r.Write.Path, "/") + ".scratch"
	}
	h := fnv.New64a()
	h.Write([]byte(r.Write.Path))
	return filepath.Join(os.TempDir(), fmt.Sprintf("weir-%016x.scratch", h.Sum64()))
}
