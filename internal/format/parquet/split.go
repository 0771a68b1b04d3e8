package parquet

import "fmt"

// byteSplit reads BYTE_STREAM_SPLIT: all first bytes of the values, then all
// second ones, and so on; one window a stream.
type byteSplit struct {
	streams []*window
}

func (s *byteSplit) fixed(dst []byte, n int) error {
	width := len(s.streams)
	if n == 0 {
		return nil
	}
	for i, w := range s.streams {
		out := dst[i:]
		for done := 0; done < n; {
			b, err := w.some()
			if err != nil {
				return fmt.Errorf("byte stream %d: %w", i, err)
			}
			k := min(len(b), n-done)
			for j, v := range b[:k] {
				out[(done+j)*width] = v
			}
			w.skip(k)
			done += k
		}
	}
	return nil
}

func (s *byteSplit) bytes(*byteColumn, int) (int, error) { return 0, errNotBytes }
