package model_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/convtools/convtools/runtime/model"
)

func TestFlat(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 70)
	for name, want := range map[string]string{
		"conv.create":           "conv_create",
		"conv_create":           "conv_create",
		"server.get-it.now":     "server_get-it_now",
		"größe":                 "gr__e",
		"":                      "_",
		strings.Repeat("b", 64): strings.Repeat("b", 64),
		// printf aaa… | sha256sum begins with 6bd5e503.
		long: long[:55] + "_6bd5e503",
	} {
		if got := model.Flat(name); got != want {
			t.Errorf("Flat(%q) = %q, want %q", name, got, want)
		}
	}
	if model.Flat(long+"b") == model.Flat(long+"c") {
		t.Error("two long names have one flat name")
	}
}

// Tools that can be offered together have names that differ in every form, and each form leads back to its tool.
func TestNamesAreBijective(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[ab._-]{1,4}`), 1, 6, rapid.ID).Draw(t, "names")
		var tools []model.Tool
		for _, name := range names {
			tools = append(tools, model.Tool{Name: name})
		}
		// The oracle: no name may be the flat name of another tool.
		clash := false
		for i, a := range names {
			for _, b := range names[:i] {
				flatA, flatB := strings.ReplaceAll(a, ".", "_"), strings.ReplaceAll(b, ".", "_")
				clash = clash || flatA == flatB || a == flatB || b == flatA
			}
		}
		known, err := model.NamesOf(tools)
		if (err != nil) != clash {
			t.Fatalf("%q: %v", names, err)
		}
		if clash {
			return
		}
		for _, name := range names {
			for _, form := range []string{name, model.Flat(name)} {
				if got := known.Canonical(form); got != name {
					t.Errorf("%q of %q is %q", form, name, got)
				}
			}
		}
	})
}

func TestNameError(t *testing.T) {
	t.Parallel()
	for want, names := range map[string][]string{
		`the tools "conv.create" and "conv_create" would both be called "conv_create": rename one of them, or leave it out`: {"conv.create", "conv_create"},
		`the tools "a" and "a" would both be called "a": rename one of them, or leave it out`:                               {"a", "b", "a"},
		`"a b" cannot be the name of a tool: it has to be 1 to 128 of A-Z a-z 0-9 _ . -`:                                    {"a b"},
	} {
		var tools []model.Tool
		for _, name := range names {
			tools = append(tools, model.Tool{Name: name})
		}
		_, err := model.NamesOf(tools)
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
