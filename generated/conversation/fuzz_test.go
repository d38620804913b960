package conversation_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/coerce"
	"github.com/convtools/convtools/runtime/contract"
)

// subject is one tool whose generated validator is compared with its schema.
type subject struct {
	tool     contract.Tool
	coerce   func(*coerce.Args)
	validate func(coerce.Object) []contract.Problem
	schema   *jsonschema.Schema
	fields   []field
}

// field is what a schema says about one parameter, for values near its limits.
type field struct {
	Name    string
	Type    string   `json:"type"`
	Enum    []string `json:"enum"`
	Minimum *int     `json:"minimum"`
	Maximum *int     `json:"maximum"`
	MaxLen  *int     `json:"maxLength"`
	MaxItem *int     `json:"maxItems"`
	Items   *field   `json:"items"`
}

func subjects(tb testing.TB) []subject {
	tb.Helper()
	all := []subject{
		{tool: conversation.GrepTool(), coerce: conversation.CoerceGrep, validate: conversation.ValidateGrep},
		{tool: conversation.ListTool(), coerce: conversation.CoerceList, validate: conversation.ValidateList},
		{tool: conversation.RecallTool(), coerce: conversation.CoerceRecall, validate: conversation.ValidateRecall},
		{tool: conversation.ReadTool(), coerce: conversation.CoerceRead, validate: conversation.ValidateRead},
	}
	for i := range all {
		s := &all[i]
		compiler := jsonschema.NewCompiler()
		compiler.Draft = jsonschema.Draft2020
		if err := compiler.AddResource("schema.json", strings.NewReader(s.tool.InputSchema)); err != nil {
			tb.Fatal(err)
		}
		schema, err := compiler.Compile("schema.json")
		if err != nil {
			tb.Fatal(err)
		}
		s.schema = schema
		var document struct {
			Properties map[string]field `json:"properties"`
		}
		if err := json.Unmarshal([]byte(s.tool.InputSchema), &document); err != nil {
			tb.Fatal(err)
		}
		for name, f := range document.Properties {
			f.Name = name
			s.fields = append(s.fields, f)
		}
		sort.Slice(s.fields, func(i, j int) bool { return s.fields[i].Name < s.fields[j].Name })
	}
	return all
}

// choices turns the bytes of a fuzzer into decisions. When they have run out,
// every decision is the first.
type choices struct{ data []byte }

func (c *choices) below(n int) int {
	if len(c.data) == 0 {
		return 0
	}
	b := c.data[0]
	c.data = c.data[1:]
	return int(b) % n
}

func pick[T any](c *choices, from ...T) T { return from[c.below(len(from))] }

// object writes the JSON text of an arguments object: mostly with names the
// tool has, mostly with values of the declared type at or near its limits.
func (c *choices) object(fields []field) string {
	names := map[string]bool{}
	var members []string
	for range 1 + c.below(7) {
		f := fields[c.below(len(fields))]
		name := f.Name
		if c.below(12) == 11 {
			name = pick(c, "", name+"s", strings.ToUpper(name), name[1:], "x", " "+name, "\x00", "tïme", strings.Repeat("n", 300))
		}
		if names[name] {
			continue
		}
		names[name] = true
		members = append(members, quote(name)+":"+c.value(&f, 0))
	}
	return "{" + strings.Join(members, ",") + "}"
}

func (c *choices) value(f *field, depth int) string {
	kind := f.Type
	if c.below(6) == 5 {
		kind = pick(c, "null", "string", "integer", "boolean", "array", "object")
	}
	if depth > 1 && kind == "array" {
		return "[]" // far from the bounds on arguments, which no schema says
	}
	switch kind {
	case "integer":
		return c.number(f)
	case "boolean":
		return pick(c, "true", "false")
	case "string":
		return quote(c.text(f))
	case "array":
		items := f.Items
		if items == nil {
			items = f
		}
		n := pick(c, 1, 2, 0, 3, 10, 11, 20, 21, 100, 101)
		if depth > 0 {
			n = min(n, 2)
		}
		list := make([]string, n)
		for i := range list {
			if i > 3 && len(c.data) == 0 {
				list[i] = list[i%3]
				continue
			}
			list[i] = c.value(items, depth+1)
		}
		return "[" + strings.Join(list, ",") + "]"
	case "object":
		return pick(c, "{}", `{"a":1}`, `{"a":{"b":[null]}}`)
	default:
		return "null"
	}
}

func (c *choices) number(f *field) string {
	n := c.below(12)
	switch {
	case f.Minimum != nil && c.below(3) == 0:
		n = *f.Minimum + c.below(3) - 1
	case f.Maximum != nil && c.below(3) == 0:
		n = *f.Maximum + c.below(3) - 1
	}
	s := strconv.Itoa(n)
	return pick(c, s, s, s, s+".0", s+"e0", strconv.Itoa(n*10)+"e-1", s+".5", s+"e1", "-"+strings.TrimPrefix(s, "-"), "1e300", "-1e300", "9223372036854775807", "9223372036854775808", "1e-300", "0.0", "-0")
}

func (c *choices) text(f *field) string {
	if len(f.Enum) > 0 && c.below(4) > 0 {
		word := f.Enum[c.below(len(f.Enum))]
		return pick(c, word, word, word, strings.ToUpper(word), strings.ReplaceAll(word, "_", "-"), strings.ReplaceAll(word, "-", "_"), word+"s", " "+word)
	}
	switch c.below(10) {
	case 0:
		return "jp-c17648402467"
	case 1:
		return pick(c, "retry", "a b", "-x", "--limit=5", "潮汐", "e\u0301", "🌊")
	case 2:
		return pick(c, "", " ", "\t", "\v", "\f", "\u00a0", "\u3000", "\u2028", "\x00", "a\x00", "a\nb", "a\rb", "a\u0085b", "\n")
	case 3:
		return pick(c, "5", " 7 ", "0", "-1", "5.0", "99999999999999999999", "true", "False", "TRUE ", "yes", "null")
	case 4:
		return pick(c, `["chat"]`, ` ["user", "x"]`, `[1,2]`, `[]`, `[`, `{"a":1}`, `[["chat"]]`, `["chat","chat"]`, `[null]`, `"x"`)
	case 5:
		n := pick(c, 128, 129, 199, 200, 201, 999, 1000, 1001)
		return strings.Repeat(pick(c, "a", "é", "🌊", ".", " "), n)
	case 6:
		return pick(c, "../etc", "a/b", "jp-c1\n", "jp-c1 ", "a_b.c-D", "é", "$", "^")
	default:
		length := c.below(40)
		b := make([]rune, length)
		for i := range b {
			b[i] = rune(c.below(256))
		}
		return string(b)
	}
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// accepts is what the schema says about JSON text.
func (s *subject) accepts(t *testing.T, text []byte) error {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("the generator wrote something that is not JSON: %v: %s", err, text)
	}
	return s.schema.Validate(v)
}

// decode reads arguments, from text that is known to be an object.
func decode(t *testing.T, text string) coerce.Object {
	t.Helper()
	object, repairs, err := coerce.DecodeObject([]byte(text))
	if err != nil || repairs != nil {
		t.Fatalf("decoding %.500s: %v %v", text, err, repairs)
	}
	return object
}

func encode(t *testing.T, o coerce.Object) []byte {
	t.Helper()
	b, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// answers takes any valid call.
type answers struct{ notes []string }

func (a *answers) Grep(_ context.Context, call contract.Call, _ conversation.GrepParams) (*conversation.GrepEnvelope, error) {
	a.notes = call.Notes
	return &conversation.GrepEnvelope{}, nil
}

func (a *answers) List(_ context.Context, call contract.Call, p conversation.ListParams) (*conversation.ListEnvelope, error) {
	a.notes = call.Notes
	e := conversation.NewListEnvelope(p)
	return &e, nil
}

func (a *answers) Read(_ context.Context, call contract.Call, _ conversation.ReadParams) (*conversation.ReadEnvelope, error) {
	a.notes = call.Notes
	return &conversation.ReadEnvelope{}, nil
}

func (a *answers) Search(_ context.Context, call contract.Call, _ conversation.SearchParams) (string, error) {
	a.notes = call.Notes
	return "", nil
}

func (a *answers) Recall(_ context.Context, call contract.Call, _ conversation.RecallParams) (*conversation.RecallEnvelope, error) {
	a.notes = call.Notes
	return &conversation.RecallEnvelope{}, nil
}

// FuzzValidators compares every generated validator with the schema it was
// generated beside, before and after repairs, and tries the call that each
// refusal recommends.
func FuzzValidators(f *testing.F) {
	all := subjects(f)
	f.Add(byte(0), []byte{})
	for seed := range byte(40) {
		data := make([]byte, 120)
		state := uint32(seed) + 1
		for i := range data {
			state = state*1664525 + 1013904223
			data[i] = byte(state >> 24)
		}
		f.Add(seed, data)
	}
	f.Fuzz(func(t *testing.T, which byte, data []byte) {
		s := &all[int(which)%len(all)]
		s.check(t, (&choices{data}).object(s.fields))
	})
}

func (s *subject) check(t *testing.T, text string) {
	t.Helper()
	problems := s.validate(decode(t, text))
	shape := slices.DeleteFunc(slices.Clone(problems), func(p contract.Problem) bool { return p.Code == contract.CodeExclusive })
	if err := s.accepts(t, []byte(text)); (err == nil) != (len(shape) == 0) {
		t.Fatalf("%s %s\nschema:    %v\nvalidator: %+v", s.tool.Name, text, err, shape)
	}

	args := coerce.Args{Object: decode(t, text)}
	s.coerce(&args)
	repaired := encode(t, args.Object)
	valid := s.validate(args.Object) == nil
	if valid {
		if err := s.accepts(t, repaired); err != nil {
			t.Fatalf("%s %s\nrepaired to %s, which passes, but not the schema: %v", s.tool.Name, text, repaired, err)
		}
	}
	if len(problems) == 0 && !valid {
		t.Fatalf("%s %s\nis valid, and repaired to what is not: %s", s.tool.Name, text, repaired)
	}
	again := coerce.Args{Object: decode(t, string(repaired))}
	s.coerce(&again)
	if len(again.Repairs) > 0 {
		t.Fatalf("%s %s\nis repaired twice: %s, then %+v", s.tool.Name, text, repaired, again.Repairs)
	}

	var h answers
	_, err := conversation.Call(context.Background(), &h, contract.Call{Tool: s.tool.Name, Arguments: []byte(text)})
	if valid {
		if err != nil {
			t.Fatalf("%s %s\nis valid after repairs, but the call fails: %v", s.tool.Name, text, err)
		}
		if len(h.notes) != len(args.Repairs) {
			t.Fatalf("%s %s\n%d repairs, but %d notes", s.tool.Name, text, len(args.Repairs), len(h.notes))
		}
		return
	}
	var invalid *contract.InvalidArguments
	if !errors.As(err, &invalid) || len(invalid.Problems) == 0 {
		t.Fatalf("%s %s\nis not valid, but the error is %v", s.tool.Name, text, err)
	}
	if n := len(err.Error()); n > 64<<10 {
		t.Fatalf("%s: an error of %d bytes", s.tool.Name, n)
	}
	h = answers{}
	if _, err := conversation.Call(context.Background(), &h, contract.Call{Tool: s.tool.Name, Arguments: []byte(invalid.Corrected)}); err != nil {
		t.Fatalf("%s %s\nthe call that works does not: %s\n%v", s.tool.Name, text, invalid.Corrected, err)
	}
	if len(h.notes) > 0 {
		t.Fatalf("%s %s\nthe call that works needs repairs: %s\n%q", s.tool.Name, text, invalid.Corrected, h.notes)
	}
	if err := s.accepts(t, []byte(invalid.Corrected)); err != nil {
		t.Fatalf("%s %s\nthe call that works is refused by the schema: %s\n%v", s.tool.Name, text, invalid.Corrected, err)
	}
}

// FuzzArguments feeds text that need not be JSON.
func FuzzArguments(f *testing.F) {
	for _, s := range []string{
		``, `null`, `{}`, `[]`, `"{}"`, `{"pattern":"x"}`, `{"limit":"5"}`, `{"id":17648402467,"turn":1,"last":2}`, `{"a":`, `{"limit":1,"limit":2}`, "{\"id\":\"\xff\"}", `{"scopes":"[\"chat\"]"}`,
	} {
		f.Add(s)
	}
	names := []string{"conversation_grep", "conversation_list", "conversation_read", "conversation_"}
	f.Fuzz(func(t *testing.T, arguments string) {
		for _, name := range names {
			var h answers
			_, err := conversation.Call(context.Background(), &h, contract.Call{Tool: name, Arguments: []byte(arguments)})
			var invalid *contract.InvalidArguments
			if errors.As(err, &invalid) {
				if _, err := conversation.Call(context.Background(), &h, contract.Call{Tool: name, Arguments: []byte(invalid.Corrected)}); err != nil {
					t.Fatalf("%s %q\nthe call that works does not: %s\n%v", name, arguments, invalid.Corrected, err)
				}
			}
		}
	})
}

// TestValidatorsAgree runs the comparison on enough objects to meet every kind
// of problem, so that it does not depend on a fuzzer's luck.
func TestValidatorsAgree(t *testing.T) {
	t.Parallel()
	met := map[contract.Code]bool{}
	valid := 0
	for _, s := range subjects(t) {
		state := uint32(7)
		for range 1500 {
			data := make([]byte, 60)
			for i := range data {
				state = state*1664525 + 1013904223
				data[i] = byte(state >> 24)
			}
			text := (&choices{data}).object(s.fields)
			s.check(t, text)
			problems := s.validate(decode(t, text))
			for _, p := range problems {
				met[p.Code] = true
			}
			if len(problems) == 0 {
				valid++
			}
		}
	}
	if valid < 150 {
		t.Errorf("only %d valid objects", valid)
	}
	for _, code := range []contract.Code{
		contract.CodeUnknown, contract.CodeMissing, contract.CodeType, contract.CodeEnum, contract.CodeMinimum, contract.CodeMaximum,
		contract.CodeMaxLength, contract.CodeMinItems, contract.CodePattern, contract.CodeBlank, contract.CodeSingleLine, contract.CodeExclusive,
	} {
		if !met[code] {
			t.Errorf("no object has the problem %s", code)
		}
	}
}
