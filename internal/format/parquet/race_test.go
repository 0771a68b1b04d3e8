//go:build race

package parquet

// raced says that the race detector slows everything down.
const raced = true
