package coerce_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/coerce"
)

func TestTogether(t *testing.T) {
	object := coerce.Object{{Name: "c", Value: true}, {Name: "a", Value: nil}, {Name: "x", Value: ""}}
	for _, tc := range []struct {
		names, want []string
	}{
		{[]string{"a", "b", "c"}, []string{"a", "c"}},
		{[]string{"a", "b"}, nil},
		{[]string{"b", "d"}, nil},
		{nil, nil},
	} {
		if diff := cmp.Diff(tc.want, object.Together(tc.names...)); diff != "" {
			t.Errorf("Together(%q) (-want +got):\n%s", tc.names, diff)
		}
	}
	if n := testing.AllocsPerRun(100, func() { object.Together("a", "b", "d") }); n != 0 {
		t.Errorf("%v allocations where only one is given", n)
	}
}

func TestStrings(t *testing.T) {
	t.Parallel()
	source := []any{"a", "b"}
	got, ok := coerce.Strings(source)
	if !ok {
		t.Fatal("strings are refused")
	}
	source[0] = "changed"
	if diff := cmp.Diff([]string{"a", "b"}, got); diff != "" {
		t.Errorf("strings (-want +got):\n%s", diff)
	}
	if got, ok := coerce.Strings([]any{}); !ok || got == nil {
		t.Errorf("an empty array became %v, %v", got, ok)
	}
	for _, v := range []any{nil, "a", []any{"a", nil}, []any{json.Number("1")}, coerce.Object{}} {
		if got, ok := coerce.Strings(v); ok || got != nil {
			t.Errorf("Strings(%v) = %v, %v", v, got, ok)
		}
	}
}

func TestOneOrMany(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		in   any
		want []string
		ok   bool
	}{
		{"a", []string{"a"}, true},
		{"", []string{""}, true},
		{`["a"]`, []string{`["a"]`}, true},
		{[]any{"a", "b"}, []string{"a", "b"}, true},
		{[]any{}, []string{}, true},
		{[]any{"a", nil}, nil, false},
		{json.Number("1"), nil, false},
		{nil, nil, false},
	} {
		got, ok := coerce.OneOrMany(tc.in)
		if diff := cmp.Diff(tc.want, got); diff != "" || ok != tc.ok {
			t.Errorf("OneOrMany(%v) is ok: %v (-want +got):\n%s", tc.in, ok, diff)
		}
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`null`, `12`, `"<a> & \"b\""`, `[1,"x",null,{}]`, `{"b":"<","a":[{"c":"&"}]}`} {
		object, _, err := coerce.DecodeObject([]byte(`{"v":` + text + `}`))
		if err != nil {
			t.Fatal(err)
		}
		v, _ := object.Get("v")
		got := coerce.JSON(v)
		var want, back any
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(got), &back); err != nil {
			t.Fatalf("JSON(%s) = %s: %v", text, got, err)
		}
		if diff := cmp.Diff(want, back); diff != "" {
			t.Errorf("JSON(%s) = %s (-want +got):\n%s", text, got, diff)
		}
	}
	if got := coerce.JSON("<a> & b"); got != `"<a> & b"` {
		t.Errorf("markup characters are escaped: %s", got)
	}
}

func TestBlankAndSingleLine(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]struct{ blank, single bool }{
		"":              {true, true},
		" \t\v\f":       {true, true},
		" \n":           {true, false},
		"\r":            {true, false},
		"a":             {false, true},
		" é ":           {false, true},
		"\u00a0":        {false, true},
		"\u3000\u2028":  {false, true},
		"a\x00":         {false, false},
		"a\x01\x7f\x85": {false, true},
		"a\nb":          {false, false},
	} {
		if coerce.Blank(s) != want.blank || coerce.SingleLine(s) != want.single {
			t.Errorf("%q: blank %v, single line %v, want %+v", s, coerce.Blank(s), coerce.SingleLine(s), want)
		}
	}
}
