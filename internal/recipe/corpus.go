package recipe

// Dedup leaves out rows that are there already: of those that agree, the first
// is kept. Zero values are the defaults.
type Dedup struct {
	By         []string // columns that are compared; none: all
	Normalize  bool     // texts that differ in Unicode form, case or white space only agree
	Against    []string // files of hashes of earlier runs, whose rows count as seen
	SaveHashes string   // file for the hashes of this run; empty: none
	Near       float64  // Jaccard similarity, 0 to 1, from which rows agree; 0: they must be equal
	Ngram      int      // near: units in a shingle; 0: 5
	Unit       string   // near: byte; empty: word
	Check      bool     // near: candidates are compared by their signatures
	Exact      bool     // near: the similarity of candidates is worked out exactly
}

// Tokenize makes ids of texts. At most one of Text, Chat and Alpaca is set;
// none: Text is the column text. Zero values are the defaults.
type Tokenize struct {
	Tokenizer    string   // path of a tokenizer.json
	Text         string   // a column of texts
	Chat         string   // a column of messages
	Alpaca       bool     // the columns instruction, input and output
	Tools        string   // chat: a column of tools
	Template     string   // chat: a .jinja or a tokenizer_config.json; empty: the tokenizer_config.json beside Tokenizer
	TemplateName string   // chat: which of several templates; empty: default
	Date         string   // chat: the day that a template writes, as 2026-11-15
	Mask         string   // assistant or none; empty: assistant with Chat and Alpaca, else none
	AddEOS       bool     // an end-of-sequence token behind every row
	AddSpecial   bool     // the tokens that the tokenizer's post-processor adds
	MaxLength    int      // rows are cut to this many tokens; 0: not at all
	Keep         []string // columns that are passed through
}

// Pack makes rows of one length out of rows of tokens. Zero values are the
// defaults, but Length must be set.
type Pack struct {
	Length int    // tokens of a row
	Method string // first-fit or concat; empty: best-fit
	Long   string // documents above Length: truncate or drop; empty: split
	Pad    int    // the id that fills rows up
}

// Shuffle permutes all rows, by the recipe's seed.
type Shuffle struct{}

// Corpus says whether this is a recipe of a corpus, with any of the stages
// dedup, tokenize, pack and shuffle, and not of a table.
func (r *Recipe) Corpus() bool {
	for _, s := range r.Stages {
		if k, ok := kindOf(s.Name); ok && k.family() == corpus {
			return true
		}
	}
	return false
}

// mistake is a key whose value makes no sense beside the others, and why;
// empty: there is none.
func (d *Dedup) mistake() (key, why string) {
	switch {
	case d.Near != 0 && len(d.Against) > 0:
		return "against", "not together with near: hashes tell equal rows alone"
	case d.Near != 0 && d.SaveHashes != "":
		return "save_hashes", "not together with near: hashes tell equal rows alone"
	case d.Check && d.Exact:
		return "exact", "not together with check: candidates are compared in one way"
	case d.Near != 0:
	case d.Ngram != 0:
		return "ngram", "it goes with near"
	case d.Unit != "":
		return "unit", "it goes with near"
	case d.Check:
		return "check", "it goes with near"
	case d.Exact:
		return "exact", "it goes with near"
	}
	return "", ""
}

func (t *Tokenize) mistake() (key, why string) {
	chat := t.Chat != ""
	switch {
	case chat && t.Text != "":
		return "chat", "not together with text: one of them is read"
	case t.Alpaca && t.Text != "":
		return "alpaca", "not together with text: one of them is read"
	case t.Alpaca && chat:
		return "alpaca", "not together with chat: one of them is read"
	case t.Date != "" && !chat:
		return "date", "it goes with chat"
	case t.Tools != "" && !chat:
		return "tools", "it goes with chat"
	case t.Template != "" && !chat:
		return "template", "it goes with chat"
	case t.TemplateName != "" && !chat:
		return "template_name", "it goes with chat"
	case t.Mask == "assistant" && !chat && !t.Alpaca:
		return "mask", "there is no assistant in a text; it goes with chat or alpaca"
	}
	return "", ""
}
