package stream

import (
	"fmt"
	"runtime/debug"
)

// Guard calls f and makes an error of a panic, so that a bug ends a stream
// like any other error instead of the process.
func Guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a bug in weir, please report it: %v\n%s", p, debug.Stack())
		}
	}()
	return f()
}
