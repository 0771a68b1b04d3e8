// Command weir streams datasets of any size through one fixed amount of
// memory.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/weir-data/weir/internal/mem"
)

// version is set by the linker: -ldflags "-X main.version=v1.2.3".
var version = "dev"

func main() { os.Exit(mainExit()) }

// mainExit runs the program and returns its exit code.
func mainExit() (code int) {
	defer func() {
		if v := recover(); v != nil {
			fmt.Fprintf(os.Stderr, "weir: this is a bug in weir, please report it: %v\n%s", v, debug.Stack())
			code = exitOther
		}
	}()
	mem.SpareCode()
	// A closed pipe is an error of the write, not the end of the process.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second Ctrl-C ends the process at once.
	context.AfterFunc(ctx, stop)
	return newApp().main(ctx, os.Args[1:])
}
