package dataset_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/dataset/datasettest"
	"github.com/weir-data/weir/internal/store"
)

// TestMain is the process that is killed, where the environment says so.
func TestMain(m *testing.M) {
	if url := os.Getenv("WEIR_TEST_KILL"); url != "" {
		os.Exit(killed(url, os.Getenv("WEIR_TEST_KILL_AT")))
	}
	os.Exit(m.Run())
}

// killed works until a step and dies there. It returns when there is no such
// step.
func killed(url, at string) int {
	last, err := strconv.Atoi(at)
	if err != nil {
		return 2
	}
	step := 0
	st := datasettest.Steps{ReadWriter: store.New(store.Options{}), Step: func(name string) error {
		if step += changes(name); changes(name) == 1 && step == last {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		return nil
	}}
	if err := work(context.Background(), place(st, url), plan(), os.Getenv("WEIR_TEST_FORCE") != ""); err != nil && !errors.Is(err, dataset.ErrFinished) {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// changes counts the steps that change something: a death at the others is one
// at the step before.
func changes(name string) int {
	switch strings.Fields(name)[1] {
	case "create", "commit", "remove":
		return 1
	}
	return 0
}

// life runs a process until its nth step; true: it came to its end before.
func life(t *testing.T, url string, n int, force bool) bool {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "WEIR_TEST_KILL="+url, "WEIR_TEST_KILL_AT="+strconv.Itoa(n))
	if force {
		cmd.Env = append(cmd.Env, "WEIR_TEST_FORCE=1")
	}
	text, err := cmd.CombinedOutput()
	if err == nil {
		return true
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("step %d: %v\n%s", n, err, text)
	}
	return false
}

// stride leaves kill points out where a process costs more.
func stride(g ground) int {
	if g.name == "s3" {
		return 16
	}
	return 1
}

func TestRunKilledAtAnyStepEndsAsIfUndisturbed(t *testing.T) {
	everywhere(t, func(t *testing.T, g ground) {
		want := golden(t, g)
		st := store.New(store.Options{})
		kills := 0
		for n := 1; ; n += stride(g) {
			url := g.fresh()
			if life(t, url, n, false) {
				break
			}
			kills++
			err := work(t.Context(), place(st, url), plan(), false)
			if err != nil && !errors.Is(err, dataset.ErrFinished) {
				t.Fatalf("killed at step %d: %v", n, err)
			}
			same(t, g.tree(url), want, fmt.Sprintf("killed at step %d", n))
		}
		t.Log(kills, "kills")
	})
}

func TestReplacingKilledAtAnyStepEndsAsIfUndisturbed(t *testing.T) {
	g := disk(t)
	want := golden(t, g)
	st := store.New(store.Options{})
	other := plan()
	other.Recipe, other.Splits, other.Arrays = "another", []string{"all", "train", "none"}, []string{"other.npy"}
	for n := 1; ; n += 3 {
		url := g.fresh()
		if err := work(t.Context(), place(st, url), other, false); err != nil {
			t.Fatal(err)
		}
		if life(t, url, n, true) {
			break
		}
		err := work(t.Context(), place(st, url), plan(), true)
		if err != nil {
			t.Fatalf("killed at step %d: %v", n, err)
		}
		same(t, g.tree(url), want, fmt.Sprintf("killed at step %d", n))
	}
}
