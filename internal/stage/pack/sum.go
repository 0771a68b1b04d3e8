package pack

import "github.com/apache/arrow-go/v18/arrow"

// Schema is that of the rows that are made.
func Schema(o Options) (*arrow.Schema, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	return outSchema(o.Length), nil
}

// Plus is what two packers did together.
func (r Report) Plus(o Report) Report {
	r.Documents += o.Documents
	r.Empty += o.Empty
	r.Tokens += o.Tokens
	r.Rows += o.Rows
	r.Placed += o.Placed
	r.Split += o.Split
	r.Truncated += o.Truncated
	r.Dropped += o.Dropped
	r.Lost += o.Lost
	return r
}
