//go:build !race

package codec

const raced = false
