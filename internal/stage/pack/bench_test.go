package pack_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stage/pack"
)

// BenchmarkPack packs 100M tokens in documents of chat to rows of 4096.
func BenchmarkPack(b *testing.B) {
	const tokens, length = 100_000_000, 4096
	r := rand.New(rand.NewPCG(1, 2))
	docs := lengths(r, 2000, func() int { return 1 + min(4095, int(math.Exp(5.8+r.NormFloat64()))) })
	rec := documents(b, arrow.PrimitiveTypes.Int32, docs, nil)
	for _, method := range []string{pack.BestFit, pack.FirstFit, pack.Concat} {
		b.Run(method, func(b *testing.B) {
			var report pack.Report
			for b.Loop() {
				p, err := pack.New(ctx, rec.Schema(), pack.Options{Length: length, Method: method}, mem.New(64<<20))
				if err != nil {
					b.Fatal(err)
				}
				for p.Report().Tokens < tokens {
					for from := 0; from < int(rec.NumRows()); {
						n, err := p.Add(rec, from)
						if err != nil {
							b.Fatal(err)
						}
						from += n
						release(b, p)
					}
				}
				p.Flush()
				release(b, p)
				p.Close()
				report = p.Report()
			}
			b.ReportMetric(float64(report.Tokens)*float64(b.N)/1e6/b.Elapsed().Seconds(), "Mtokens/s")
			b.ReportMetric(100*report.Fill(length), "%full")
		})
	}
}

func release(b *testing.B, p *pack.Packer) {
	for {
		rec, err := p.Next(ctx)
		if err != nil {
			b.Fatal(err)
		}
		if rec == nil {
			return
		}
		rec.Release()
	}
}
