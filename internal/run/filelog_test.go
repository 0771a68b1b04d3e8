package run

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
)

func TestFileLogCountsRowsOfEachFile(t *testing.T) {
	type step struct {
		rows  int64
		after stream.Cursor
	}
	for name, steps := range map[string][]step{
		"end of a file told as its last row":       {{6, stream.Cursor{Object: 0, Row: 6}}, {4, stream.Cursor{Object: 0, Row: 10}}, {5, stream.Cursor{Object: 1, Row: 5}}},
		"end of a file told as the next one's top": {{10, stream.Cursor{Object: 1}}, {5, stream.Cursor{Object: 2}}},
		"batches that span files":                  {{7, stream.Cursor{Object: 0, Row: 7}}, {7, stream.Cursor{Object: 1, Row: 4}}, {1, stream.Cursor{Object: 1, Row: 5}}},
	} {
		var out bytes.Buffer
		f := &fileLog{log: slog.New(slog.NewTextHandler(&out, nil)), objects: []store.Object{{URL: "a"}, {URL: "b"}}}
		for _, s := range steps {
			f.batch(s.rows, s.after)
		}
		f.advance(2)
		if !strings.Contains(out.String(), "file=a bytes=0 rows=10 ") || !strings.Contains(out.String(), "file=b bytes=0 rows=5 ") {
			t.Errorf("%s:\n%s", name, &out)
		}
	}
}
