package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/watch"
)

// reportFile is where a preparation's report goes beside the text: a page or
// JSON, by its name. Empty: nowhere.
type reportFile string

// check refuses what cannot be written before there is anything to report.
func (f reportFile) check() error {
	name := string(f)
	if name == "" {
		return nil
	}
	if ext := filepath.Ext(name); ext != ".html" && ext != ".json" {
		return fmt.Errorf("--report %s: name a file that ends in .html or .json", name)
	}
	if strings.Contains(name, "://") {
		return fmt.Errorf("--report %s: name a file on this machine", name)
	}
	if _, err := os.Stat(filepath.Dir(name)); err != nil {
		return fmt.Errorf("--report %s: %w", name, err)
	}
	return nil
}

// write makes the file appear whole, in the place of one that was there.
func (f reportFile) write(p *watch.Preparation) error {
	name := string(f)
	if name == "" {
		return nil
	}
	form := p.JSON
	if filepath.Ext(name) == ".html" {
		form = p.HTML
	}
	if err := replace(name, form); err != nil {
		return fmt.Errorf("%w: --report: %w", run.ErrOutput, err)
	}
	return nil
}

// replace writes a file under a hidden name and then gives it its own.
func replace(name string, write func(io.Writer) error) (err error) {
	file, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(file.Name())
		}
	}()
	err = errors.Join(write(file), file.Chmod(0o644), file.Close())
	if err != nil {
		return err
	}
	return os.Rename(file.Name(), name)
}
