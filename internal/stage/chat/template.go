package chat

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/jinja"
)

// ReadTemplate reads a template: a file of Jinja text, or a
// tokenizer_config.json, whose special tokens come along as variables. name
// picks one of several templates; "": "default". A Jinja file beside a
// tokenizer_config.json gets that file's special tokens. Errors are
// format.ErrUsage.
func ReadTemplate(path, name string) (text string, vars []jinja.Var, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", nil, format.Error(format.ErrUsage, "chat: %w", err)
	}
	if !strings.HasSuffix(path, ".json") {
		beside, err := os.ReadFile(filepath.Join(filepath.Dir(path), "tokenizer_config.json"))
		if err == nil {
			if _, vars, err = parseConfig(beside, name, path); err != nil {
				return "", nil, err
			}
		}
		return string(data), vars, nil
	}
	text, vars, err = parseConfig(data, name, path)
	if err == nil && text == "" {
		beside, err := os.ReadFile(filepath.Join(filepath.Dir(path), "chat_template.jinja"))
		if err != nil {
			return "", nil, format.Error(format.ErrUsage, "chat: %s: there is no chat_template in it, and no chat_template.jinja beside it", path)
		}
		text = string(beside)
	}
	return text, vars, err
}

// specialTokens are the tokens that transformers gives templates.
var specialTokens = []string{"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"}

func parseConfig(data []byte, name, path string) (text string, vars []jinja.Var, err error) {
	var c map[string]json.RawMessage
	if err := json.Unmarshal(data, &c); err != nil {
		return "", nil, format.Error(format.ErrUsage, "chat: %s: %w", path, err)
	}
	for _, key := range specialTokens {
		var plain string
		var token struct{ Content string }
		switch raw := c[key]; {
		case len(raw) == 0 || bytes.Equal(raw, []byte("null")):
			continue
		case json.Unmarshal(raw, &plain) == nil:
		case json.Unmarshal(raw, &token) == nil:
			plain = token.Content
		}
		vars = append(vars, jinja.Var{Name: key, Value: jinja.Str(plain)})
	}
	text, err = pickTemplate(c["chat_template"], name, path)
	return text, vars, err
}

func pickTemplate(raw json.RawMessage, name, path string) (string, error) {
	var one string
	var several []struct{ Name, Template string }
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return "", nil
	}
	if json.Unmarshal(raw, &one) == nil {
		return one, nil
	}
	if err := json.Unmarshal(raw, &several); err != nil {
		return "", format.Error(format.ErrUsage, "chat: %s: chat_template is neither text nor a list of named templates", path)
	}
	if name == "" {
		name = "default"
	}
	var have []string
	for _, t := range several {
		if t.Name == name {
			return t.Template, nil
		}
		have = append(have, t.Name)
	}
	return "", format.Error(format.ErrUsage, "chat: %s: there is no chat template %q; there are %s", path, name, strings.Join(have, ", "))
}
