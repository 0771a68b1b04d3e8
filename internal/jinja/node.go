package jinja

// expr is a part of the template that has a value.
type expr interface {
	eval(s *state, f *frame) Value
	pos() int
}

// stmt is a part that writes or changes something.
type stmt interface {
	exec(s *state, f *frame) signal
}

// signal says how a statement ended.
type signal uint8

const (
	goOn signal = iota
	breakLoop
	nextTurn
)

// place is where a node stands in the source, in bytes.
type place int

func (p place) pos() int { return int(p) }

type (
	constant struct {
		place
		v Value
	}
	name struct {
		place
		name string
		ref  ref
	}
	attribute struct {
		place
		of   expr
		name string
		own  bool // some kind of value has an attribute of this name
	}
	item struct {
		place
		of, key expr
	}
	slice struct {
		place
		of, from, to, step expr // nil: not given
		folds              bool // see fold
	}
	sequence struct { // list or tuple
		place
		items []expr
		kind  kind
	}
	mapping struct {
		place
		keys, vals []expr
	}
	logic struct { // and, or
		place
		left, right expr
		or          bool
	}
	not struct {
		place
		of expr
	}
	unary struct { // + -
		place
		of expr
		op byte
	}
	binary struct {
		place
		left, right expr
		op          operator
	}
	sum struct { // a + b + c
		place
		parts []expr
	}
	concat struct {
		place
		parts []expr
	}
	compare struct {
		place
		first expr
		ops   []string
		rest  []expr
	}
	cond struct {
		place
		test, then, els expr // els may be nil
	}
	call struct {
		place
		fn   expr
		args arguments
	}
	filter struct {
		place
		of   expr // nil in filter blocks
		name string
		args arguments
		fn   *builtin
	}
	test struct {
		place
		of   expr
		name string
		args arguments
		fn   *builtin
	}
)

// arguments are those of a call, in the order of the source.
type arguments struct {
	pos         []expr
	names       []string
	named       []expr
	more, moreK expr // *args, **kwargs
}

type (
	output struct {
		text  string // written before the value; value may be nil
		value expr
	}
	ifStmt struct {
		tests  []expr
		bodies [][]stmt
		els    []stmt
	}
	forStmt struct {
		place
		target    target
		iter      expr
		test      expr
		body      []stmt
		els       []stmt
		recursive bool

		loop      ref // of the loop variable; up < 0: nobody reads it
		testBind  target
		enter     []load
		enterTest []load
		enterElse []load
		fn        *function // of a recursive loop's body
	}
	assign struct {
		place
		target target
		value  expr
	}
	assignBlock struct {
		place
		target target
		filter *filter
		body   []stmt
		enter  []load
	}
	withStmt struct {
		targets []target
		values  []expr
		body    []stmt
		enter   []load
	}
	filterBlock struct {
		filter *filter
		body   []stmt
		enter  []load
	}
	macroStmt struct {
		place
		name string
		ref  ref
		def  *macroDef
	}
	callBlock struct {
		place
		call *call
		def  *macroDef
	}
	generation struct {
		place
		body  []stmt
		enter []load
	}
	exprStmt struct { // {% print a, b %}
		values []expr
	}
	loopControl struct {
		place
		signal signal
	}
)

// macroDef is a macro, or the body of a call block.
type macroDef struct {
	place
	name     string
	params   []*name
	defaults []expr // of the last params
	body     []stmt

	fn                     *function
	enter                  []load
	caller, kwargs, varags ref // up < 0: not read in the body
}

// target is what an assignment sets: a name, an attribute of a namespace, or
// a tuple of targets.
type target struct {
	place
	name  string
	attr  string // not empty: of the namespace in name
	parts []target
	tuple bool
	ref   ref
}
