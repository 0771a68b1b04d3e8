package jinja

import (
	"strings"
	"sync"
	"testing"
)

func TestHostileTemplatesEnd(t *testing.T) {
	for _, src := range []string{
		"{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
		"{% for a in range(100000) %}{% for b in range(100000) %}x{% endfor %}{% endfor %}",
		"{{ 'x' * 10000000000 }}",
		"{{ [0] * 9223372036854775807 }}",
		"{{ ' '|center(9999999999) }}",
		"{{ '%9999999999d' % 1 }}",
		"{{ '{:>2000000000}'.format(1) }}",
		"{% set ns = namespace(s='x') %}{% for i in range(1000) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
		"{% set ns = namespace(l=[1]) %}{% for i in range(1000) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l }}",
		"{% set ns = namespace() %}{% set ns.x = ns %}{{ ns }}",
		"{{ " + strings.Repeat("(", 5000) + "1" + strings.Repeat(")", 5000) + " }}",
		"{{ " + strings.Repeat("-", 100000) + "1 }}",
		"{{ " + strings.Repeat("not ", 100000) + "1 }}",
		strings.Repeat("{% if 1 %}", 5000),
		"{{ [1]|tojson(indent=9999999999) }}",
		"{{ 'aaaa'|replace('', 'x' * 100000000) }}",
		"{{ [1,2]|batch(100000000000, 1)|list }}",
		"{{ ''.join(range(3)|map('string')|list * 100000000) }}",
	} {
		tmpl, err := Compile(src, Options{Steps: 1e6, Bytes: 1 << 22})
		if err != nil {
			continue
		}
		if _, _, err = tmpl.NewRenderer().Render(nil, nil); err == nil {
			t.Errorf("%.80q ended without an error", src)
		}
	}
}

func TestOneTemplateServesManyGoroutines(t *testing.T) {
	tmpl, err := Compile("{% set ns = namespace(n=0) %}{% for m in ms %}{% set ns.n = ns.n + m %}{% endfor %}{{ ns.n }}", Options{})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			r := tmpl.NewRenderer()
			for range 200 {
				text, _, err := r.Render(nil, []Var{{"ms", List([]Value{Int(1), Int(int64(g))})}})
				if want := string(rune('1' + g)); err != nil || string(text) != want {
					t.Errorf("got %s, %v", text, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestErrorLeavesTheTextAsItWas(t *testing.T) {
	tmpl, err := Compile("abc{{ x.y }}", Options{})
	if err != nil {
		t.Fatal(err)
	}
	text, spans, err := tmpl.NewRenderer().Render([]byte("keep"), nil)
	if err == nil || string(text) != "keep" || spans != nil {
		t.Errorf("%q %v %v", text, spans, err)
	}
}

func TestRaisedErrorsAreTold(t *testing.T) {
	tmpl, err := Compile("{{ raise_exception('no') }}", Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = tmpl.NewRenderer().Render(nil, nil)
	if e, ok := err.(*Error); !ok || !e.Raised || e.Text != "the template says: no" {
		t.Errorf("%v", err)
	}
}

func FuzzRender(f *testing.F) {
	for _, line := range []string{"{% for m in messages %}{{ m.role|upper }}{{ loop.index }}{% endfor %}", "{{ '%s' % x }}{{ '{}'.format(1) }}",
		"{%- set x %}{{ 1.5|round(-3) }}{% endset -%}", "{% macro a(b=1) %}{{ caller(b) }}{% endmacro %}{% call(c) a() %}{{ c }}{% endcall %}",
		"{{ messages[::-1]|tojson(indent=1) }}{% generation %}x{% endgeneration %}", "{{ x[1:2:3]|batch(2)|list }}{# #}{% raw %}{% endraw %}"} {
		f.Add(line, `{"messages":[{"role":"user","content":"x"}],"x":"é"}`)
	}
	f.Fuzz(func(t *testing.T, src, data string) {
		v, err := ParseJSON(data)
		if err != nil {
			v = None()
		}
		m, _ := v.Field("messages")
		x, _ := v.Field("x")
		tmpl, err := Compile(src, Options{Steps: 1e4, Bytes: 1 << 18})
		if err != nil {
			return
		}
		_, _, _ = tmpl.NewRenderer().Render(nil, []Var{{"messages", m}, {"x", x}})
	})
}
