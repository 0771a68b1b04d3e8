//go:build race

package codec

// raced: measuring memory means nothing, and everything takes ten times as long.
const raced = true
