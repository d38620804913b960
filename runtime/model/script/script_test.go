package script_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/model/script"
)

// trip is the script of a root that creates two conversations, of which the first creates a third.
const trip = `
[[conversation]]
first = "Plan the trip"

[[conversation.response]]
text = "I ask for hotels."
calls = [{ tool = "conv.create", arguments = { user_instruction = "List hotels", budget = { max_tokens = 100 } } }]

[[conversation.response]]
calls = [{ tool = "conv.create", arguments = { user_instruction = "List trains to ${output.last_assistant_message}" } }]

[[conversation.response]]
text = "Hotel: ${output.1.last_assistant_message} Train: ${output.last_assistant_message}"

[[conversation]]
first = "List hotels"

[[conversation.response]]
pieces = ["I have the prices ", "checked."]
delay = "100ms"
calls = [{ tool = "conv.create", arguments = { user_instruction = "Compare prices" } }]

[[conversation.response]]
match = "no price"
text = "none"

[[conversation.response]]
text = "the Adler"

[[conversation]]
[[conversation.response]]
text = "${input}: done"
repeat = true
`

// play returns what a model answers to a history: its text and its calls.
func play(t *testing.T, m *script.Model, items ...model.Item) (text string, calls []model.Item) {
	t.Helper()
	r, err := m.Sample(t.Context(), model.Request{Items: items}, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range r.Items {
		if item.Kind == model.ToolCall {
			calls = append(calls, item)
		} else {
			text += item.Text()
		}
	}
	return text, calls
}

func parse(t *testing.T, source string) *script.Model {
	t.Helper()
	m, err := script.Parse("test", source)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func user(text string) model.Item { return model.Text(model.UserMessage, text) }

func agent(text string) model.Item { return model.Text(model.AgentMessage, text) }

func call(id, name, arguments string) model.Item {
	return model.Item{Kind: model.ToolCall, CallID: id, Name: name, Wire: name, Arguments: arguments}
}

func output(id, text string) model.Item {
	return model.Item{Kind: model.ToolOutput, CallID: id, Output: text}
}

func TestScript(t *testing.T) {
	t.Parallel()
	m := parse(t, trip)
	one := call("call_1", "conv.create", `{"budget":{"max_tokens":100},"user_instruction":"List hotels"}`)
	two := call("call_2", "conv.create", `{"user_instruction":"List trains to the Adler"}`)
	hotels := output("call_1", `{"last_assistant_message":"the Adler","n":3}`)
	for name, test := range map[string]struct {
		items []model.Item
		text  string
		calls []model.Item
	}{
		"the first response":           {[]model.Item{user("context"), user("Plan the trip, please")}, "I ask for hotels.", []model.Item{one}},
		"after an output":              {[]model.Item{user("Plan the trip"), agent("x"), one, hotels}, "", []model.Item{two}},
		"of two outputs":               {[]model.Item{user("Plan the trip"), agent("x"), one, hotels, two, output("call_2", `{"last_assistant_message":"ICE"}`)}, "Hotel: the Adler Train: ICE", nil},
		"in pieces":                    {[]model.Item{user("List hotels")}, "I have the prices checked.", []model.Item{call("call_1", "conv.create", `{"user_instruction":"Compare prices"}`)}},
		"by number":                    {[]model.Item{user("List hotels"), agent("a"), user("and?")}, "the Adler", nil},
		"by what is answered":          {[]model.Item{user("List hotels"), agent("a"), user("there is no price")}, "none", nil},
		"by an output":                 {[]model.Item{user("List hotels"), agent("a"), one, output("call_1", "no price")}, "none", nil},
		"any conversation":             {[]model.Item{user("List trains")}, "List trains: done", nil},
		"again and again":              {[]model.Item{user("1"), agent("x"), user("2"), agent("x"), user("3")}, "3: done", nil},
		"not by a later input":         {[]model.Item{user("1"), agent("x"), user("Plan the trip")}, "Plan the trip: done", nil},
		"an output is not an object":   {[]model.Item{user("x"), one, output("call_1", "${input}")}, "x: done", nil},
		"reasoning is of the response": {[]model.Item{user("List hotels"), {Kind: model.Reasoning}, agent("a"), one, output("call_1", "y")}, "the Adler", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, calls := play(t, m, test.items...)
			if diff := cmp.Diff(test.calls, calls); diff != "" || text != test.text {
				t.Errorf("text %q, want %q; calls (-want +got):\n%s", text, test.text, diff)
			}
		})
	}
}

// Pieces arrive one by one, after a delay.
func TestDelay(t *testing.T) {
	t.Parallel()
	m := parse(t, trip)
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var pieces []string
		r, err := m.Sample(t.Context(), model.Request{Items: []model.Item{user("List hotels")}}, func(text string) { pieces = append(pieces, text) })
		if err != nil || time.Since(began) != 100*time.Millisecond {
			t.Fatalf("%v after %v", err, time.Since(began))
		}
		if diff := cmp.Diff([]string{"I have the prices ", "checked."}, pieces); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if want := (model.Usage{InputTokens: 3, OutputTokens: 16}); r.Usage != want { // 11 and 26 + 37 bytes
			t.Errorf("usage %+v, want %+v", r.Usage, want)
		}
	})
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	for _, first := range []string{"List hotels", "anything"} {
		if _, err := m.Sample(ctx, model.Request{Items: []model.Item{user(first)}}, func(string) {}); !errors.Is(err, gone) {
			t.Errorf("%s: the error of a context that has ended is %v", first, err)
		}
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	m := parse(t, `
[[conversation]]
first = "refer"
[[conversation.response]]
text = "${output.key}"
[[conversation.response]]
text = "${output.key}"
[[conversation.response]]
text = "${home}"
`)
	a := []model.Item{user("refer"), agent("a"), user("b")}
	for want, items := range map[string][]model.Item{
		`the script has no conversation that begins with "other"`:           {user("other")},
		`the script refers to an output that there is not: "output.key"`:    {user("refer")},
		`the script refers to "key", which is not in the output "{}"`:       {user("refer"), call("c", "x", "{}"), output("c", "{}")},
		`the script has no response 4 for conversation 1 (first = "refer")`: append(a, agent("c"), user("d"), agent("e"), user("f")),
	} {
		_, err := m.Sample(t.Context(), model.Request{Items: items}, func(string) {})
		failure := (*model.Error)(nil)
		if !errors.As(err, &failure) || failure.Code != model.CodeScript || failure.Message != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ source, want string }{
		"no TOML":        {"[[conversation", "reading the script: toml:"},
		"unknown key":    {"[[conversation]]\nfirts = 'a'", `unknown key "conversation.firts"`},
		"unknown answer": {"[[conversation]]\n[[conversation.response]]\ntxt = 'a'", `unknown key "conversation.response.txt"`},
		"a wrong type":   {"[[conversation]]\nfirst = 3", "reading the script: toml:"},
		"any arguments":  {"[[conversation]]\n[[conversation.response]]\ncalls = [{ tool = 'a', arguments = { x = { y = [1, { z = 1 }] } } }]", ""},
		"verbatim":       {"[[conversation]]\n[[conversation.response]]\ncalls = [{ tool = 'a', arguments = '{' }]", ""},
		"nothing":        {"\ufeff", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := script.Parse("test", test.source)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add(trip, "Plan the trip")
	f.Add("[[conversation]]\n[[conversation.response]]\ntext='${output.9}'", "x")
	f.Fuzz(func(t *testing.T, source, input string) {
		m, err := script.Parse("test", source)
		if err != nil {
			return
		}
		synctest.Test(t, func(t *testing.T) { // a script may wait
			r, err := m.Sample(t.Context(), model.Request{Items: []model.Item{user(input)}}, func(string) {})
			again, errAgain := m.Sample(t.Context(), model.Request{Items: []model.Item{user(input)}}, func(string) {})
			if diff := cmp.Diff(r, again); diff != "" || (err == nil) != (errAgain == nil) {
				t.Errorf("the second answer is another one: %v, %v\n%s", err, errAgain, diff)
			}
		})
	})
}
