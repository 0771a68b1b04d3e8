// Command tokenizertest encodes texts for tests that compare weir's ids with
// another library's.
//
//	tokenizertest [-special] [-decode] [-spans] [-repeat N] tokenizer.json < texts > ids
//
// Texts are a little-endian uint32 length and that many bytes each. For each,
// it writes a uint32 count and that many uint32 ids; with -spans, as many
// uint32 places behind them; with -decode, a uint32 length and the bytes that
// the ids decode to. With -repeat it encodes everything so many times over and
// writes nothing but, on standard error, the bytes and the seconds of CPU.
package main

import (
	"bufio"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/weir-data/weir/internal/tokenizer"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	special := flag.Bool("special", false, "add the tokens of the post-processor")
	decode := flag.Bool("decode", false, "write the decoded text as well")
	spans := flag.Bool("spans", false, "write where tokens begin as well")
	repeat := flag.Int("repeat", 0, "encode so many times and report the time")
	cache := flag.Int("cache", 4<<20, "bytes of the cache of words")
	flag.Parse()
	data, err := os.ReadFile(flag.Arg(0))
	if err != nil {
		return err
	}
	t, err := tokenizer.Load(data)
	if err != nil {
		return err
	}
	input, err := io.ReadAll(bufio.NewReaderSize(os.Stdin, 1<<20))
	if err != nil {
		return err
	}
	texts := divide(input)
	e, o := t.NewEncoder(*cache), tokenizer.EncodeOptions{AddSpecial: *special}
	if *repeat > 0 {
		measure(e, o, texts, *repeat)
		return nil
	}
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	var ids []uint32
	var starts []int
	for _, text := range texts {
		if *spans {
			ids, starts = e.EncodeSpans(ids[:0], starts[:0], text, o)
		} else {
			ids = e.Encode(ids[:0], text, o)
		}
		write(out, ids)
		for _, at := range starts {
			_ = binary.Write(out, binary.LittleEndian, uint32(at))
		}
		if *decode {
			decoded := t.Decode(ids, false)
			_ = binary.Write(out, binary.LittleEndian, uint32(len(decoded)))
			_, _ = out.Write(decoded)
		}
	}
	return out.Flush()
}

// divide takes the texts apart; what is cut off at the end is left out.
func divide(input []byte) [][]byte {
	var texts [][]byte
	for len(input) >= 4 {
		n := int(binary.LittleEndian.Uint32(input))
		if n > len(input)-4 {
			break
		}
		texts = append(texts, input[4:4+n])
		input = input[4+n:]
	}
	return texts
}

func write(out io.Writer, ids []uint32) {
	_ = binary.Write(out, binary.LittleEndian, uint32(len(ids)))
	_ = binary.Write(out, binary.LittleEndian, ids)
}

// measure encodes all texts once to warm up, and then times rounds of them.
func measure(e *tokenizer.Encoder, o tokenizer.EncodeOptions, texts [][]byte, rounds int) {
	var ids []uint32
	var begin time.Duration
	size, count := 0, 0
	for round := range rounds + 1 {
		if round == 1 {
			begin, size, count = processorTime(), 0, 0
		}
		for _, text := range texts {
			ids = e.Encode(ids[:0], text, o)
			size += len(text)
			count += len(ids)
		}
	}
	fmt.Fprintf(os.Stderr, "%d bytes %d ids %.6f s\n", size, count, (processorTime() - begin).Seconds())
}

// processorTime is what this process has used of the CPU.
func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
