//go:build race

package csv

// raced says that the race detector slows everything down.
const raced = true
