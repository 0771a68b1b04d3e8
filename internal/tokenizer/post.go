package tokenizer

import (
	"encoding/json"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/tokenizer/document"
)

// frame is the ids that a post-processor puts around those of a text.
type frame struct{ before, behind []uint32 }

// around is this frame with another one around it.
func (f frame) around(outer frame) frame {
	return frame{before: append(outer.before[:len(outer.before):len(outer.before)], f.before...), behind: append(f.behind[:len(f.behind):len(f.behind)], outer.behind...)}
}

// processor is what a post-processor may say.
type processor struct {
	Type       string               `json:"type"`
	Processors []json.RawMessage    `json:"processors"`
	Single     []map[string]piece   `json:"single"`
	Special    map[string]specialID `json:"special_tokens"`
	Sep        [2]any               `json:"sep"`
	Cls        [2]any               `json:"cls"`
}

type piece struct {
	ID string `json:"id"`
}

type specialID struct {
	IDs []uint32 `json:"ids"`
}

// parseFrame reads "post_processor" as far as a single text is concerned.
func parseFrame(spec document.Value) (frame, error) {
	if spec.Null() {
		return frame{}, nil
	}
	var p processor
	if err := json.Unmarshal(spec, &p); err != nil {
		return frame{}, format.Error(format.ErrData, "post_processor: %w", err)
	}
	switch p.Type {
	case "ByteLevel": // concerns offsets only
		return frame{}, nil
	case "Sequence":
		var whole frame
		for _, inner := range p.Processors {
			f, err := parseFrame(document.Value(inner))
			if err != nil {
				return frame{}, err
			}
			whole = whole.around(f)
		}
		return whole, nil
	case "TemplateProcessing":
		return p.template()
	case "BertProcessing", "RobertaProcessing":
		cls, first := p.Cls[1].(float64)
		sep, second := p.Sep[1].(float64)
		if !first || !second {
			return frame{}, format.Error(format.ErrData, "post_processor: %s without the ids of cls and sep", p.Type)
		}
		return frame{before: []uint32{uint32(cls)}, behind: []uint32{uint32(sep)}}, nil
	}
	return frame{}, format.Error(format.ErrUsage, "post_processor of type %q is not one that weir knows", p.Type)
}

// template is the frame of a template in which the text occurs once.
func (p *processor) template() (frame, error) {
	var f frame
	texts := 0
	for _, part := range p.Single {
		if text, ok := part["Sequence"]; ok {
			texts++
			if text.ID != "A" {
				texts = 2
			}
			continue
		}
		token, ok := part["SpecialToken"]
		ids, known := p.Special[token.ID]
		if !ok || !known {
			return f, format.Error(format.ErrData, "post_processor: TemplateProcessing: no ids of the token %q", token.ID)
		}
		if texts == 0 {
			f.before = append(f.before, ids.IDs...)
		} else {
			f.behind = append(f.behind, ids.IDs...)
		}
	}
	if texts != 1 {
		return f, format.Error(format.ErrUsage, "post_processor: TemplateProcessing: a template for one text in which it does not occur once is not supported")
	}
	return f, nil
}

// truncation is how many ids of a text are kept at most, and which.
type truncation struct {
	Direction string `json:"direction"`
	MaxLength int    `json:"max_length"`
	Strategy  string `json:"strategy"`
	Stride    int    `json:"stride"`
}

// parseTruncation reads "truncation"; nil: none. frame is how many ids are
// added to those of a text.
func parseTruncation(spec document.Value, frame int) (*truncation, error) {
	if spec.Null() {
		return nil, nil
	}
	t := truncation{Direction: "Right", Strategy: "LongestFirst"}
	if err := json.Unmarshal(spec, &t); err != nil {
		return nil, format.Error(format.ErrData, "truncation: %w", err)
	}
	switch {
	case t.Direction != "Right" && t.Direction != "Left":
		return nil, format.Error(format.ErrUsage, "truncation: direction %q is not known", t.Direction)
	case t.Strategy != "LongestFirst" && t.Strategy != "OnlyFirst":
		return nil, format.Error(format.ErrUsage, "truncation: strategy %q is not for single texts", t.Strategy)
	case t.MaxLength <= frame+t.Stride || t.Stride < 0:
		return nil, format.Error(format.ErrUsage, "truncation: max_length %d leaves nothing beside a stride of %d and %d tokens that are added", t.MaxLength, t.Stride, frame)
	}
	return &t, nil
}

// cut is the part of n ids that is kept beside some that are added.
func (t *truncation) cut(n, frame int) (from, to int) {
	most := t.MaxLength - frame
	switch {
	case n <= most:
		return 0, n
	case t.Direction == "Left":
		return n - most, n
	}
	return 0, most
}

// parsePadding refuses what would add tokens: rows have lengths of their own.
func parsePadding(spec document.Value) error {
	if spec.Null() {
		return nil
	}
	var strategy string
	if json.Unmarshal(spec.Member("strategy"), &strategy) == nil && strategy == "BatchLongest" && spec.Member("pad_to_multiple_of").Null() {
		return nil // one text is the longest of its batch
	}
	return format.Error(format.ErrUsage, `padding: texts are not padded; set "padding" to null`)
}
