package watch

import (
	"strings"

	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/run/prepare"
	"github.com/weir-data/weir/internal/stage/scale"
)

// Fitted is the report of a fit for people.
func Fitted(r run.Report, p *scale.Params) string {
	var b strings.Builder
	b.WriteString(Text(r))
	columns(&b, prepare.Report{Params: p})
	return b.String()
}
