package library

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/coerce"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/envelope"
)

func decode(t testing.TB, arguments string) coerce.Object {
	t.Helper()
	object, _, err := coerce.DecodeObject([]byte(arguments))
	if err != nil {
		t.Fatalf("arguments %s: %v", arguments, err)
	}
	return object
}

func problems(tool contract.Tool, args coerce.Object) []contract.Problem {
	return coerce.Problems(&tool, args)
}

// bound returns the parameters of a call.
func bound[P any](t testing.TB, tool contract.Tool, arguments string) P {
	t.Helper()
	tool.Rules = nil
	params, err := coerce.Params[P](&contract.Call{Arguments: []byte(arguments)}, &tool)
	if err != nil {
		t.Fatal(err)
	}
	return params
}

func TestCoerce(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		in, want string
		notes    int
	}{
		{`{}`, `{}`, 0},
		{`{"word":"x","page":null}`, `{"word":"x"}`, 0},
		{`{"limit":"7"}`, `{"limit":7}`, 1},
		{`{"limit":"70"}`, `{"limit":50}`, 2},
		{`{"limit":0}`, `{"limit":0}`, 0},
		{`{"last":"7"}`, `{"last":"7"}`, 0}, // declares no repair
		{`{"order":"By_Year"}`, `{"order":"by-year"}`, 1},
		{`{"scopes":"[\"TEXT\",\"notes\"]"}`, `{"scopes":["text","notes"]}`, 2},
		{`{"scopes":"Index"}`, `{"scopes":["index"]}`, 2},
		{`{"ids":17}`, `{"ids":["17"]}`, 2},
		{`{"ids":[17,"b-1"]}`, `{"ids":["17","b-1"]}`, 1},
		{`{"shelf":3}`, `{"shelf":"3"}`, 1},
		{`{"lent":"False"}`, `{"lent":false}`, 1},
		{`{"fold_case":"true"}`, `{"fold_case":"true"}`, 0},
	} {
		tool := FindTool()
		args, notes := coerce.Repair(&tool, decode(t, tc.in))
		got, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != tc.want || len(notes) != tc.notes {
			t.Errorf("%s became %s with notes %q, want %s with %d", tc.in, got, notes, tc.want, tc.notes)
		}
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		in   string
		want []string // path, code, fix
	}{
		{`{"word":"tide"}`, nil},
		{`{"word":"tide","limit":50,"page":1,"order":"by-year","scopes":["index"],"ids":["b-17"],"fold_case":false}`, nil},
		{`{"word":"日本語のページをめくるあいだに二十字"}`, nil},
		{`{"word":"x","limit":10.0}`, nil},
		{`{"word":"x","lent":true}`, nil},
		{`{"word":"x","shelf":"north-12"}`, nil},
		{`{"word":"x","last":-3}`, nil},
		{`{}`, []string{`word missing_parameter "tide"`}},
		{`{"word":5}`, []string{`word wrong_type "tide"`}},
		{`{"word":""}`, []string{`word too_short "tide"`}},
		{`{"word":" \t"}`, []string{`word blank "tide"`}},
		{`{"word":"\u3000"}`, nil},
		{`{"word":"a\nb"}`, []string{`word not_single_line "tide"`}},
		{`{"word":"a\u0000b"}`, []string{`word not_single_line "tide"`}},
		{`{"word":"aaaaaaaaaaaaaaaaaaaa\n"}`, []string{`word too_long "tide"`, `word not_single_line "tide"`}},
		{`{"word":"x","limit":0}`, []string{`limit below_minimum 1`}},
		{`{"word":"x","limit":51}`, []string{`limit above_maximum 50`}},
		{`{"word":"x","limit":1e400}`, []string{`limit above_maximum 50`}},
		{`{"word":"x","limit":1.5}`, []string{`limit wrong_type 10`}},
		{`{"word":"x","limit":"5"}`, []string{`limit wrong_type 10`}},
		{`{"word":"x","limit":null}`, []string{`limit wrong_type 10`}},
		{`{"word":"x","page":0}`, []string{`page below_minimum 1`}},
		{`{"word":"x","page":[]}`, []string{`page wrong_type `}},
		{`{"word":"x","order":"by-yaer"}`, []string{`order not_allowed "by-year"`}},
		{`{"word":"x","order":"random"}`, []string{`order not_allowed "by-title"`}},
		{`{"word":"x","scopes":[]}`, []string{`scopes too_few_items ["text","notes"]`}},
		{`{"word":"x","scopes":["text","text","text","text"]}`, []string{`scopes too_many_items ["text","notes"]`}},
		{`{"word":"x","scopes":["text",1,"note"]}`, []string{`scopes[1] wrong_type `, `scopes[2] not_allowed "notes"`}},
		{`{"word":"x","scopes":"text"}`, []string{`scopes wrong_type ["text","notes"]`}},
		{`{"word":"x","ids":["b-17","B 17","123456789",""]}`, []string{`ids[1] pattern_mismatch `, `ids[2] pattern_mismatch `, `ids[3] pattern_mismatch `}},
		{`{"word":"x","shelf":"north-"}`, []string{`shelf pattern_mismatch `}},
		{`{"word":"x","shelf":"north-1\n"}`, []string{`shelf pattern_mismatch `}},
		{`{"word":"x","lent":"yes"}`, []string{`lent wrong_type `}},
		{`{"word":"x","fold_case":0}`, []string{`fold_case wrong_type true`}},
		{`{"word":"x","page":1,"last":2}`, []string{`last mutually_exclusive `}},
		{`{"word":"x","ids":["a"],"lent":true}`, []string{`lent mutually_exclusive `}},
		{`{"word":"x","ids":["a"],"shelf":"north-1","lent":true}`, []string{`lent mutually_exclusive `}},
		{
			`{"zzz":1,"lent":"x","limt":1,"limit":"x"}`,
			[]string{`word missing_parameter "tide"`, `limit wrong_type 10`, `lent wrong_type `, `zzz unknown_parameter `, `limt unknown_parameter `},
		},
	} {
		var got []string
		for _, p := range problems(FindTool(), decode(t, tc.in)) {
			got = append(got, fmt.Sprintf("%s %s %s", p.Path, p.Code, p.Fix))
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("problems of %s (-want +got):\n%s", tc.in, diff)
		}
	}
}

func TestMessages(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{}`:                         `word is required: a string (1 to 20 characters; not blank; on one line).`,
		`{"word":""}`:                `word must be 1 to 20 characters long, got "".`,
		`{"word":" "}`:               `word must be more than white space, got " ".`,
		`{"word":"x","limit":99}`:    `limit must be an integer (1 to 50), got 99.`,
		`{"word":"x","page":-1}`:     `page must be an integer (at least 1), got -1.`,
		`{"word":"x","ids":["?"]}`:   `ids[0] must be the id of a book, such as b-17, got "?".`,
		`{"word":"x","scopes":[]}`:   `scopes must be an array of 1 to 3 strings, got [].`,
		`{"word":"x","scopes":true}`: `scopes must be an array of strings (1 to 3 items; each one of text, notes, index), got the boolean true.`,
		`{"word":"x","order":"y"}`:   `order: "y" is not allowed. Allowed: by-title, by-year, by-shelf.`,
	} {
		problems := problems(FindTool(), decode(t, in))
		if len(problems) != 1 || problems[0].Message != want {
			t.Errorf("%s: %+v, want the message %q", in, problems, want)
		}
	}
}

// TestManyProblems makes more mistakes in a call than the error lists.
func TestManyProblems(t *testing.T) {
	t.Parallel()
	args := decode(t, `{"word":"x","ids":[`+strings.Repeat("1,", 100_000)+`1]}`)
	if n := len(problems(FindTool(), args)); n != contract.MaxProblems {
		t.Errorf("%d problems, want %d", n, contract.MaxProblems)
	}
}

func TestBind(t *testing.T) {
	t.Parallel()
	defaults := FindParams{Word: "x", Limit: 10, Order: "by-title", Scopes: []string{"text", "notes"}, FoldCase: true}
	first := bound[FindParams](t, FindTool(), `{"word":"x"}`)
	if diff := cmp.Diff(defaults, first); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
	first.Scopes[0] = "changed"
	if diff := cmp.Diff(defaults, bound[FindParams](t, FindTool(), `{"word":"x"}`)); diff != "" {
		t.Errorf("one call's parameters change those of the next (-want +got):\n%s", diff)
	}
	want := FindParams{
		Word: "y", Limit: 7, Page: new(2), Last: new(0), Order: "by-year", Scopes: []string{"index"}, IDs: []string{"a", "b"},
		Shelf: new("north-1"), Lent: new(false), FoldCase: false,
	}
	got := bound[FindParams](t, FindTool(), `{"fold_case":false,"lent":false,"shelf":"north-1","ids":["a","b"],"scopes":["index"],"order":"by-year","last":0,"page":2e0,"limit":7.0,"word":"y"}`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("everything given (-want +got):\n%s", diff)
	}
}

func TestEnvelope(t *testing.T) {
	t.Parallel()
	at := time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)
	e := NewFindEnvelope(FindParams{Limit: 5})
	e.Page, e.ScopeList = 2, "text,index"
	e.Hits, e.Truncated = 3, true
	e.Books = []FindBook{
		{
			ID: `b"1`, Year: 1911, LentAt: at, Signed: new(false), BackAt: &at, Copies: new(0), Room: "n",
			Title: "Tides <vol. 1>", Blurb: "first\n]]> last", Card: "{\n  \"a\": 1\n}",
			Hits: []FindHit{{Page: 1, Text: "a tide"}, {Page: 9, Text: "no tide", GapBefore: true}},
			Tags: []string{"sea", "</tag>\nin two lines", "and\nthree\n"},
		},
		{ID: "b2"},
	}
	e.Librarian = &FindLibrarian{Desk: 4}
	e.Notes = []string{"read\nthis"}
	want := strings.Join([]string{
		`<library_find version="1" hits="3" limit="5" page="2" scopes="text,index" truncated="true" untrusted="true">`,
		`  <book id="b&quot;1" year="1911" lent_at="2025-03-01T12:00:00Z" signed="false" back_at="2025-03-01T12:00:00Z" copies="0" room="n">`,
		`    <title><![CDATA[Tides <vol. 1>]]></title>`,
		`    <blurb><![CDATA[`,
		`first`,
		`]]]]><![CDATA[> last`,
		`]]></blurb>`,
		`    <card><![CDATA[`,
		"```json",
		`{`,
		`  "a": 1`,
		`}`,
		"```",
		`]]></card>`,
		`    <hit page="1">a tide</hit>`,
		`    <gap/>`,
		`    <hit page="9">no tide</hit><tag>sea</tag><tag><![CDATA[</tag>`,
		`in two lines]]></tag><tag>and`,
		`three`,
		`</tag>`,
		`  </book>`,
		`  <book id="b2">`,
		`    <title></title>`,
		`  </book>`,
		`  <librarian desk="4"/>`,
		`  <note>read this</note>`,
		`</library_find>`,
	}, "\n")
	got := string(envelope.Document(&e))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("envelope (-want +got):\n%s", diff)
	}
	dec := xml.NewDecoder(strings.NewReader(got))
	for {
		if _, err := dec.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
	}
	var empty PingEnvelope
	if got := string(envelope.Document(&empty)); got != `<library_ping untrusted="true"/>` {
		t.Errorf("empty envelope: %s", got)
	}
	lent := FindEnvelope{Lent: new(false)}
	if got := string(envelope.Document(&lent)); got != `<library_find version="1" hits="0" limit="0" lent="false" scopes="" untrusted="true"/>` {
		t.Errorf("nullable attribute: %s", got)
	}
}

// librarian answers with its parameters.
type librarian struct{ err error }

func (l librarian) Find(_ context.Context, call contract.Call, p FindParams) (*FindEnvelope, error) {
	e := NewFindEnvelope(p)
	e.ScopeList, e.Notes = strings.Join(p.Scopes, ","), call.Notes
	return &e, l.err
}

func (l librarian) Ping(context.Context, contract.Call, PingParams) (*PingEnvelope, error) {
	return &PingEnvelope{}, l.err
}

func (l librarian) Study(_ context.Context, call contract.Call, p StudyParams) (string, error) {
	return strings.Join(append(p.Subjects, call.Notes...), "\n"), l.err
}

func TestCall(t *testing.T) {
	t.Parallel()
	got, err := Call(t.Context(), librarian{}, nil, contract.Call{Tool: "library_find", Arguments: []byte(`{"word":"x","limit":"99"}`), Notes: []string{"first"}})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		`<library_find version="1" hits="0" limit="50" scopes="text,notes" untrusted="true">`,
		`  <note>first</note>`,
		`  <note>Read limit="99" as the integer 99.</note>`,
		`  <note><![CDATA[limit=99 is over the maximum: used 50.]]></note>`,
		`</library_find>`,
	}, "\n")
	want = strings.Replace(want, `<![CDATA[limit=99 is over the maximum: used 50.]]>`, `limit=99 is over the maximum: used 50.`, 1)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	for _, arguments := range []string{"", "null", "{}", " "} {
		if got, err := Call(t.Context(), librarian{}, nil, contract.Call{Tool: "library_ping", Arguments: []byte(arguments)}); err != nil || got != `<library_ping untrusted="true"/>` {
			t.Errorf("ping with %q: %s, %v", arguments, got, err)
		}
	}
	cause := errors.New("closed")
	if _, err := Call(t.Context(), librarian{cause}, nil, contract.Call{Tool: "library_ping"}); !errors.Is(err, cause) {
		t.Errorf("the handler's error is lost: %v", err)
	}
}

func TestCallWithProblems(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ tool, in, want string }{
		{"library_find", `[1]`, "Invalid arguments for library_find: the arguments are not one JSON object: got an array.\nA call in the right form: library_find {\"word\": \"tide\", \"limit\": 5}"},
		{"library_find", `{}`, "Invalid arguments for library_find: word is required: a string (1 to 20 characters; not blank; on one line).\nA call in the right form: library_find {\"word\": \"tide\"}"},
		{
			"library_find", `{"wrod":"sea","limit":0,"scopes":["text","indx",5]}`,
			"Invalid arguments for library_find, 5 problems:\n" +
				"- word is required: a string (1 to 20 characters; not blank; on one line).\n" +
				"- limit must be an integer (1 to 50), got 0.\n" +
				"- scopes[1]: \"indx\" is not allowed; did you mean \"index\"? Allowed: text, notes, index.\n" +
				"- scopes[2] must be one of text, notes, index, got the number 5.\n" +
				"- unknown parameter \"wrod\"; did you mean \"word\"? Parameters: word, limit, page, last, order, scopes, ids, shelf, lent, fold_case.\n" +
				"A call in the right form: library_find {\"word\": \"sea\", \"limit\": 1, \"scopes\": [\"text\", \"index\"]}",
		},
		{
			// The name is almost right, but the value has the wrong type.
			"library_find", `{"wrod":5}`,
			"Invalid arguments for library_find, 2 problems:\n" +
				"- word is required: a string (1 to 20 characters; not blank; on one line).\n" +
				"- unknown parameter \"wrod\"; did you mean \"word\"? Parameters: word, limit, page, last, order, scopes, ids, shelf, lent, fold_case.\n" +
				"A call in the right form: library_find {\"word\": \"tide\", \"limit\": 5}",
		},
		{
			"library_find", `{"word":"x","ids":["a"],"shelf":"north-1","lent":true}`,
			"Invalid arguments for library_find: ids and shelf and lent cannot be combined: give one of them.\nA call in the right form: library_find {\"word\": \"x\", \"ids\": [\"a\"]}",
		},
		{"library_ping", `{"loud":true}`, "Invalid arguments for library_ping: unknown parameter \"loud\": the tool has none.\nA call in the right form: library_ping {}"},
	} {
		_, err := Call(t.Context(), librarian{}, nil, contract.Call{Tool: tc.tool, Arguments: []byte(tc.in)})
		var invalid *contract.InvalidArguments
		if !errors.As(err, &invalid) {
			t.Errorf("%s: %v is no error about arguments", tc.in, err)
			continue
		}
		if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
			t.Errorf("error for %s (-want +got):\n%s", tc.in, diff)
		}
	}
	_, err := Call(t.Context(), librarian{}, nil, contract.Call{Tool: "library_fnid"})
	if err == nil || !strings.Contains(err.Error(), "Did you mean library_find?") {
		t.Errorf("unknown tool: %v", err)
	}
}

func TestTool(t *testing.T) {
	t.Parallel()
	tool := FindTool()
	if tool.Effect != "read" || tool.OpenWorld {
		t.Errorf("effect %q, open world %v", tool.Effect, tool.OpenWorld)
	}
	if tool.Name != "library_find" || tool.Effect != "read" || !strings.Contains(tool.Description, "\n\nReturns a <library_find>.") {
		t.Errorf("tool: %+v", tool)
	}
	want := []contract.Parameter{
		{Name: "word", Type: "string", Required: true},
		{Name: "limit", Type: "integer"},
		{Name: "page", Type: "integer"},
		{Name: "last", Type: "integer"},
		{Name: "order", Type: "string", Enum: []string{"by-title", "by-year", "by-shelf"}},
		{Name: "scopes", Type: "array", Enum: []string{"text", "notes", "index"}},
		{Name: "ids", Type: "array"},
		{Name: "shelf", Type: "string"},
		{Name: "lent", Type: "boolean"},
		{Name: "fold_case", Type: "boolean"},
	}
	got := make([]contract.Parameter, len(tool.Parameters))
	for i, p := range tool.Parameters {
		got[i] = contract.Parameter{Name: p.Name, Type: p.Type, Required: p.Required, Enum: p.Values()}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("parameters (-want +got):\n%s", diff)
	}
	if !json.Valid([]byte(tool.InputSchema)) {
		t.Errorf("schema: %s", tool.InputSchema)
	}
	if FindMaxChars != 1000 {
		t.Error("a constant is wrong")
	}
}
