//go:build !race

package csv

const raced = false
