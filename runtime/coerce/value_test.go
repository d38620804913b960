package coerce_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/coerce"
	"github.com/convtools/convtools/runtime/contract"
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

// A handler gets its arguments in a struct whose fields are the parameters in their order.
func TestParams(t *testing.T) {
	t.Parallel()
	type point struct {
		X     float64
		Label *string
	}
	type form struct {
		Point *point
		Word  *struct{ Text string }
	}
	type params struct {
		Limit int
		Size  *int
		Names []string
		Many  []string
		Grid  [][]*int
		Forms []form
		Open  bool
	}
	text := &contract.Parameter{Type: "string"}
	tool := contract.Tool{Parameters: []contract.Parameter{
		{Name: "limit", Type: "integer", Default: "5"},
		{Name: "size", Type: "integer", Nullable: true, Default: "7"},
		{Name: "names", Type: "array", Items: text},
		{Name: "many", Type: "array", Items: text, OneOrMany: true},
		{Name: "grid", Type: "array", Items: &contract.Parameter{Type: "array", Items: &contract.Parameter{Type: "integer", Nullable: true}}},
		{Name: "forms", Type: "array", Items: &contract.Parameter{Type: "object", Shape: &contract.Shape{Key: "is", Forms: []contract.Form{
			{Value: "point", Members: []contract.Parameter{{Name: "x", Type: "number", Required: true}, {Name: "label", Type: "string", Default: `"none"`}}},
			{Value: "word", Members: []contract.Parameter{{Name: "text", Type: "string", Required: true}}},
		}}}},
		{Name: "open", Type: "boolean"},
	}}
	seven, label, one := 7, "none", 1
	for arguments, want := range map[string]params{
		`{}`: {Limit: 5, Size: &seven},
		`{"limit":1e2,"size":null,"names":[],"many":"a","open":true}`:                 {Limit: 100, Names: []string{}, Many: []string{"a"}, Open: true},
		`{"grid":[[1,null],[]],"many":["a","b"]}`:                                     {Limit: 5, Size: &seven, Many: []string{"a", "b"}, Grid: [][]*int{{&one, nil}, {}}},
		`{"limit":99999999999999999999,"size":7,"forms":[{"is":"point","x":-1e999}]}`: {Limit: math.MaxInt64, Size: &seven, Forms: []form{{Point: &point{X: -math.MaxFloat64, Label: &label}}}},
		`{"forms":[{"text":"t","is":"word"}],"limit":5.0}`:                            {Limit: 5, Size: &seven, Forms: []form{{Word: &struct{ Text string }{"t"}}}},
	} {
		got, err := coerce.Params[params](&contract.Call{Tool: "x", Arguments: []byte(arguments)}, &tool)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", arguments, err, diff)
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
