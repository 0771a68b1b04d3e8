package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/weir-data/weir/internal/recipe"
	"github.com/weir-data/weir/internal/run/corpus"
	"github.com/weir-data/weir/internal/run/parts"
	"github.com/weir-data/weir/internal/stage/chat"
	"github.com/weir-data/weir/internal/stage/pack"
	"github.com/weir-data/weir/internal/stage/tokenize"
	"github.com/weir-data/weir/internal/tokenizer"
	"github.com/weir-data/weir/internal/watch"
)

// mostShown is how many duplicates can be shown.
const mostShown = 1000

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
	if c.Dedup != nil {
		c.Dedup.Show = min(f.show, mostShown)
	}
	if c.Tokenize != nil {
		c.Tokenize.Check = f.check
	}
	c.Run.Observe = watch.All(line.Observe, c.Run.Observe)
	if f.dry {
		p, err := corpus.Plan(ctx, c)
		if err != nil {
			return &runError{err}
		}
		_, err = io.WriteString(a.out, watch.PlannedCorpus(p))
		return err
	}
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
	writer, err := pickWriter(a.writers, cmp.Or(r.Write.Format, "parquet"), r.Write.Path)
	if err != nil {
		return corpus.Config{}, r.Blame("write.format", err)
	}
	out := corpus.Config{
		Run: c, Store: a.store(), Out: r.Write.Path, Scratch: scratch(r), ScratchCodec: r.ScratchCodec, Writer: writer, Write: r.Write.Options(c.Options.Threads), Npy: r.Write.Npy,
		Recipe: plain(r), Seed: r.Seed, Version: "weir " + version, Note: func(text string) { log.Warn(text) },
	}
	for _, s := range r.Stages {
		switch {
		case s.Dedup != nil:
			out.Dedup = &corpus.Dedup{By: s.Dedup.By, Normalize: s.Dedup.Normalize, Against: s.Dedup.Against, Save: s.Dedup.SaveHashes,
				Near: s.Dedup.Near, Ngram: s.Dedup.Ngram, Bytes: s.Dedup.Unit == "byte", Check: s.Dedup.Check, Exact: s.Dedup.Exact}
			sum, err := sumFiles(s.Dedup.Against...)
			if err != nil {
				return out, r.Blame("stages.dedup.against", err)
			}
			out.Recipe += sum
		case s.Tokenize != nil:
			if out.Tokenize, err = tokenizing(s.Tokenize, c.Options.Threads); err != nil {
				return out, r.Blame("stages.tokenize", err)
			}
			sum, err := sumFiles(s.Tokenize.Tokenizer, template(s.Tokenize))
			if err != nil {
				return out, err
			}
			out.Recipe += sum
		case s.Pack != nil:
			p := s.Pack
			out.Pack = &pack.Options{Length: p.Length, Method: p.Method, Long: p.Long, Pad: int32(p.Pad)}
		case s.Shuffle != nil:
			out.Shuffle = true
		}
	}
	return out, nil
}

// tokenizing loads what a stage needs.
func tokenizing(t *recipe.Tokenize, threads int) (*corpus.Tokenize, error) {
	data, err := os.ReadFile(t.Tokenizer)
	if err != nil {
		return nil, err
	}
	out := &corpus.Tokenize{Options: tokenize.Options{
		AddSpecial: t.AddSpecial, MaxLength: t.MaxLength, Keep: t.Keep, Threads: threads, Chat: chat.Options{Kind: chat.Plain, Column: t.Text},
	}}
	if out.Tokenizer, err = tokenizer.Load(data); err != nil {
		return nil, fmt.Errorf("%s: %w", t.Tokenizer, err)
	}
	if t.Chat != "" {
		text, vars, err := chat.ReadTemplate(template(t), t.TemplateName)
		if err != nil {
			return nil, err
		}
		out.Chat = chat.Options{Kind: chat.Chat, Column: t.Chat, Tools: t.Tools, Template: text, Variables: vars}
		if t.Date != "" {
			if out.Chat.Now, err = time.Parse(time.DateOnly, t.Date); err != nil {
				return nil, fmt.Errorf("date: %w", err)
			}
		}
	}
	if t.Alpaca {
		out.Chat = chat.Options{Kind: chat.Alpaca}
	}
	out.Mask = t.Mask == "assistant" || t.Mask == "" && out.Chat.Kind != chat.Plain
	if t.AddEOS {
		out.End, err = endToken(t, out.Tokenizer)
	}
	return out, err
}

// template is the file of the chat template.
func template(t *recipe.Tokenize) string {
	if t.Template != "" || t.Chat == "" {
		return t.Template
	}
	return filepath.Join(filepath.Dir(t.Tokenizer), "tokenizer_config.json")
}

// ends are tokens that end texts, where no configuration names one.
var ends = []string{"</s>", "<|endoftext|>", "<|end_of_text|>", "<eos>", "<|im_end|>", "[SEP]"}

// endToken is the one that ends rows: what the tokenizer_config.json beside the
// tokenizer calls so, or else the first of the usual ones that the tokenizer has.
func endToken(t *recipe.Tokenize, tok *tokenizer.Tokenizer) (string, error) {
	var config struct {
		EOS json.RawMessage `json:"eos_token"`
	}
	var token struct{ Content string }
	if data, err := os.ReadFile(filepath.Join(filepath.Dir(t.Tokenizer), "tokenizer_config.json")); err == nil && json.Unmarshal(data, &config) == nil {
		if json.Unmarshal(config.EOS, &token.Content) == nil || json.Unmarshal(config.EOS, &token) == nil {
			return token.Content, nil
		}
	}
	for _, e := range ends {
		if _, ok := tok.ID(e); ok {
			return e, nil
		}
	}
	return "", fmt.Errorf("add_eos: there is no tokenizer_config.json beside %s that names an eos_token, and none of %s is a token", t.Tokenizer, strings.Join(ends, ", "))
}

// sumFiles tells files apart by what is in them, so that a run does not go on
// with another tokenizer.
func sumFiles(names ...string) (string, error) {
	var b strings.Builder
	for _, name := range names {
		if name == "" {
			continue
		}
		f, err := os.Open(name)
		if err != nil {
			return "", err
		}
		sum := parts.NewSum()
		_, err = io.Copy(sum, f)
		f.Close()
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "# %s: %s\n", name, sum)
	}
	return b.String(), nil
}

// scratch is where scratch files go: what the recipe says, or else beside an
// output on disk, or else where the system keeps such files.
func scratch(r *recipe.Recipe) string {
	switch {
	case r.Scratch != "":
		return r.Scratch
	case r.Write.Path == "":
		return filepath.Join(os.TempDir(), fmt.Sprintf("weir-%d.scratch", os.Getpid()))
	case !strings.Contains(r.Write.Path, "://"):
		return strings.TrimRight(r.Write.Path, "/") + ".scratch"
	}
	h := fnv.New64a()
	h.Write([]byte(r.Write.Path))
	return filepath.Join(os.TempDir(), fmt.Sprintf("weir-%016x.scratch", h.Sum64()))
}
