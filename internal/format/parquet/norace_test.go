//go:build !race

package parquet

const raced = false
