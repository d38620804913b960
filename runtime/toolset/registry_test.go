package toolset_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/toolset"
)

// family returns a family with tools of these names, which answer with their name and that of the family.
func family(name string, tools ...string) toolset.Family {
	return toolset.Family{
		Name: name,
		Declared: func() []contract.Tool {
			var declared []contract.Tool
			for _, tool := range tools {
				declared = append(declared, contract.Tool{Name: tool})
			}
			return declared
		},
		Call: func(_ context.Context, call contract.Call) (string, error) {
			return name + " answers " + call.Tool, nil
		},
	}
}

func registry(t *testing.T, families ...toolset.Family) *toolset.Registry {
	t.Helper()
	r, err := toolset.NewRegistry(families...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func names(tools []contract.Tool) string {
	var names []string
	for _, tool := range tools {
		names = append(names, tool.Name)
	}
	return strings.Join(names, " ")
}

func TestNamesAreUnique(t *testing.T) {
	t.Parallel()
	flag := func(name, short string) toolset.Family {
		f := family("f-" + name + short)
		f.Flags = []toolset.Flag{{Name: name, Shorthand: short}}
		return f
	}
	prompt := func(in, name string) toolset.Family {
		f := family(in)
		f.Prompts = []toolset.Prompt{{Name: name}}
		return f
	}
	resources := func(in, template string) toolset.Family {
		f := family(in)
		f.Resources = []toolset.Resources{{Template: template}}
		return f
	}
	for _, tc := range []struct {
		name     string
		families []toolset.Family
		want     string // of the error; empty for none
	}{
		{"none", nil, ""},
		{"families", []toolset.Family{family("a", "x"), family("a", "y")}, "both have the family a"},
		{"tools", []toolset.Family{family("a", "x", "y"), family("b", "y")}, "the family a and the family b both have the tool y"},
		{"a tool twice", []toolset.Family{family("a", "x", "x")}, "both have the tool x"},
		{"flags", []toolset.Family{flag("color", "c"), flag("color", "")}, "both have the flag --color"},
		{"letters of flags", []toolset.Family{flag("color", "c"), flag("case", "c")}, "both have the flag -c"},
		{"flags of the host", []toolset.Family{flag("workspace", "")}, "the host and the family f-workspace both have the flag --workspace"},
		{"a letter of the host's", []toolset.Family{flag("width", "w")}, "the flag -w"},
		{"prompts", []toolset.Family{prompt("a", "p"), prompt("b", "p")}, "both have the prompt p"},
		{"schemes", []toolset.Family{resources("a", "kb://{x}"), resources("b", "kb://{y}/{z}")}, "both have the scheme kb"},
		{"a name of several kinds", []toolset.Family{family("a", "a"), prompt("b", "a"), resources("c", "a://{x}"), flag("a", "")}, ""},
	} {
		_, err := toolset.NewRegistry(tc.families...)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
}

func TestTools(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	shy := family("shy", "m", "a")
	shy.Offered = func(context.Context) []contract.Tool { return []contract.Tool{{Name: "m", Description: "for now"}} }
	r := registry(t, family("plain", "z", "b"), shy)
	if got := names(r.Declared()); got != "a b m z" {
		t.Errorf("declared: %s", got)
	}
	offered := r.Offered(ctx)
	if got := names(offered); got != "b m z" || offered[1].Description != "for now" {
		t.Errorf("offered: %+v", offered)
	}
	if diff := cmp.Diff([]string{"a", "b", "m", "z"}, r.Names()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	// A tool that is not offered can be called.
	for tool, want := range map[string]string{"a": "shy answers a", "z": "plain answers z"} {
		if answer, err := r.Call(ctx, contract.Call{Tool: tool}); err != nil || answer != want {
			t.Errorf("%s: %q, %v", tool, answer, err)
		}
	}
	_, err := r.Call(ctx, contract.Call{Tool: "conversation"})
	var unknown *contract.Error
	if !errors.As(err, &unknown) || !unknown.Caller || !strings.Contains(unknown.Message, "Tools: a, b, m, z.") {
		t.Errorf("a tool that is not there: %v", err)
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	if r := registry(t, family("a"), family("b")); r.Changes() || r.Version(ctx) != "" {
		t.Errorf("families that stay what they are change: %q", r.Version(ctx))
	}
	first, second := "1", "23"
	a, b := family("a"), family("b")
	a.Version = func(context.Context) string { return first }
	b.Version = func(context.Context) string { return second }
	r := registry(t, a, family("c"), b)
	before := r.Version(ctx)
	first, second = "12", "3" // joined, they are the same text
	if after := r.Version(ctx); !r.Changes() || after == before {
		t.Errorf("%v, version %q and then %q", r.Changes(), before, after)
	}
}

func TestWhatFamiliesBring(t *testing.T) {
	t.Parallel()
	silent := family("silent", "x")
	a := family("a", "y")
	a.Instructions = func(_ context.Context, where contract.Context) string { return "Use y in " + where.Dir + "." }
	a.Examples = []string{"y n=1"}
	nowhere := errors.New("nowhere")
	a.Project = func(dir string) (string, error) {
		if dir != "here" {
			return "", nowhere
		}
		return "/a/here", nil
	}
	a.CheckConversationID = func(id string) error { return errors.New("no id: " + id) }
	a.Commands = func() []*cobra.Command { return []*cobra.Command{{Use: "paint"}} }
	b := family("b", "z")
	b.Instructions = func(context.Context, contract.Context) string { return "" }
	b.Project = func(dir string) (string, error) { return "/b/" + dir, nil }
	c := family("c")
	c.Instructions = func(context.Context, contract.Context) string { return "And z." }
	r := registry(t, silent, a, b, c)
	if got := r.Instructions(t.Context(), contract.Context{Dir: "D"}); got != "Use y in D.\n\nAnd z." {
		t.Errorf("instructions: %q", got)
	}
	for dir, want := range map[string]string{"here": "/a/here", "there": "/b/there"} {
		if root, err := r.Project(dir); err != nil || root != want {
			t.Errorf("project of %s: %q, %v", dir, root, err)
		}
	}
	if root, err := registry(t, silent, a, c).Project("there"); !errors.Is(err, nowhere) {
		t.Errorf("a project that no family knows: %q, %v", root, err)
	}
	if root, err := registry(t, silent).Project("here"); err == nil {
		t.Errorf("a project where no family knows any: %q", root)
	}
	if err := r.CheckConversationID("x"); err == nil || err.Error() != "no id: x" {
		t.Errorf("a bad id: %v", err)
	}
	if got := r.Commands(); len(got) != 1 || got[0].Name() != "paint" {
		t.Errorf("commands: %v", got)
	}
	if diff := cmp.Diff([]string{"y n=1"}, r.Examples()); diff != "" {
		t.Errorf("examples (-want +got):\n%s", diff)
	}
}

func TestFlags(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		args, tool string
		color      string // what the family was given
		bright     string
		err        string
	}{
		{args: "-c red --color=blue", color: "red,blue"},
		{args: "--bright", bright: "true"},
		{args: "--bright=0", bright: "false"},
		{args: "--bright=perhaps", err: `invalid argument "perhaps" for "--bright" flag: strconv.ParseBool`},
		{args: "-c none", err: `invalid argument "none" for "-c, --color" flag: no color`},
		{args: "-c red", tool: "paint", color: "red"},
		{args: "--bright", tool: "other", bright: "true", err: "--bright only counts for paint, draw"},
		{args: "-c ugly", color: "ugly", err: "nobody likes it"},
		{args: "-c ugly", tool: "other", color: "ugly", err: "--color only counts for paint"},
	} {
		var colors []string
		bright := ""
		a := family("a", "paint", "draw")
		a.Flags = []toolset.Flag{
			{
				Name: "color", Shorthand: "c", Usage: "use `COLOR`", Tools: []string{"paint"},
				Set: func(v string) error {
					if v == "none" {
						return errors.New("no color")
					}
					colors = append(colors, v)
					return nil
				},
				Check: func() error {
					if len(colors) == 0 {
						t.Errorf("%s: checked, and was not given", tc.args)
					}
					if colors[0] == "ugly" {
						return errors.New("nobody likes it")
					}
					return nil
				},
			},
			{Name: "bright", Switch: true, Tools: []string{"paint", "draw"}, Set: func(v string) error { bright = v; return nil }},
		}
		r := registry(t, a, family("b", "other"))
		cmd := &cobra.Command{}
		r.AddFlags(cmd)
		err := cmd.ParseFlags(strings.Fields(tc.args))
		if err == nil {
			err = r.CheckFlags(cmd.Flags(), tc.tool)
		}
		if (err == nil) != (tc.err == "") || err != nil && !strings.HasPrefix(err.Error(), tc.err) {
			t.Errorf("%s for %q: %v, want %q", tc.args, tc.tool, err, tc.err)
		}
		if got := strings.Join(colors, ","); got != tc.color || bright != tc.bright {
			t.Errorf("%s: colors %q, bright %q", tc.args, got, bright)
		}
	}
}

// TestGiven checks the flags for another command line.
func TestGiven(t *testing.T) {
	t.Parallel()
	set := func(string) error { return nil }
	a := family("a", "x")
	a.Flags = []toolset.Flag{
		{Name: "many", Shorthand: "m", Set: set, Advice: func(bool) []string { return []string{"Mind many."} }},
		{Name: "one", Set: set, Advice: func(bool) []string { return []string{"Mind one."} }},
	}
	b := family("b", "y")
	b.Flags = []toolset.Flag{{Name: "switch", Switch: true, Set: set, Advice: func(jp bool) []string {
		if jp {
			return []string{"JP."}
		}
		return []string{"Another host."}
	}}}
	r := registry(t, a, b)
	for _, test := range []struct {
		args, words, advice string
		jp                  bool
	}{
		{args: ""},
		{args: "--switch -m 1 --many=2", words: "-m 1 -m 2 --switch", advice: "Mind many. Another host."},
		{args: "--one -x --switch", words: "--one -x --switch", advice: "Mind one. JP.", jp: true},
		{args: "--switch=false"},
		{args: "--switch --switch=false"},
		{args: "--switch=false --switch=1", words: "--switch", advice: "JP.", jp: true},
	} {
		cmd := &cobra.Command{Use: "x"}
		r.AddFlags(cmd)
		if err := cmd.ParseFlags(strings.Fields(test.args)); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(r.Given(cmd.Flags()), " "); got != test.words {
			t.Errorf("%s: given %q, want %q", test.args, got, test.words)
		}
		if got := strings.Join(r.Advice(cmd.Flags(), test.jp), " "); got != test.advice {
			t.Errorf("%s: advice %q, want %q", test.args, got, test.advice)
		}
	}
}

// Close closes the families in their order.
func TestClose(t *testing.T) {
	t.Parallel()
	var closed []string
	one, two, three := family("one"), family("two"), family("three")
	one.Close = func() { closed = append(closed, "one") }
	three.Close = func() { closed = append(closed, "three") }
	registry(t, one, two, three).Close()
	if diff := cmp.Diff([]string{"one", "three"}, closed); diff != "" {
		t.Errorf("closed (-want +got):\n%s", diff)
	}
}
