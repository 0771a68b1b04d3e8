package chat

import "github.com/apache/arrow-go/v18/arrow"

// The two prompts that Alpaca's data was made for.
const (
	alpacaBoth = "Below is an instruction that describes a task, paired with an input that provides further context. " +
		"Write a response that appropriately completes the request.\n\n### Instruction:\n"
	alpacaAlone = "Below is an instruction that describes a task. " +
		"Write a response that appropriately completes the request.\n\n### Instruction:\n"
	alpacaInput    = "\n\n### Input:\n"
	alpacaResponse = "\n\n### Response:\n"
)

func (r *Renderer) alpacaRow(rec arrow.RecordBatch, row int, dst []byte, s *Scratch) ([]byte, []Span, error) {
	from := len(dst)
	input := ""
	if r.alpaca[1] >= 0 {
		input = textAt(rec.Column(r.alpaca[1]), row)
	}
	if input == "" {
		dst = append(dst, alpacaAlone...)
	} else {
		dst = append(dst, alpacaBoth...)
	}
	dst = append(dst, textAt(rec.Column(r.alpaca[0]), row)...)
	if input != "" {
		dst = append(append(dst, alpacaInput...), input...)
	}
	dst = append(dst, alpacaResponse...)
	at := len(dst) - from
	dst = append(dst, textAt(rec.Column(r.alpaca[2]), row)...)
	s.spans = append(s.spans, Span{From: at, To: len(dst) - from})
	return dst, s.spans, nil
}
