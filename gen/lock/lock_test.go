package lock_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/ir/irtest"
	"github.com/convtools/convtools/gen/lock"
)

func TestGolden(t *testing.T) {
	t.Parallel()
	files, err := lock.Emit(irtest.Contract())
	if err != nil {
		t.Fatal(err)
	}
	irtest.Golden(t, files)
}

func TestFileGivesItsFactsBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]*ir.Contract{"plain": irtest.Contract(), "hostile": irtest.Hostile()} {
		facts := lock.Facts(c)
		if !slices.IsSorted(facts) {
			t.Errorf("%s: facts are not sorted", name)
		}
		files, err := lock.Emit(c)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := lock.Parse(files[0].Data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(facts, parsed); diff != "" {
			t.Errorf("%s: facts (-written +read):\n%s", name, diff)
		}
		if changes, err := lock.Compare(facts, parsed, today); err != nil || len(changes) > 0 {
			t.Errorf("%s: a contract differs from itself: %v, %v", name, changes, err)
		}
	}
}

// Wording is no contract: other texts leave the facts as they are.
func TestWordingIsNoFact(t *testing.T) {
	t.Parallel()
	c := irtest.Contract()
	for _, tool := range c.Tools() {
		tool.Summary, tool.Description, tool.Examples = "x", "x", nil
		for i := range tool.Params {
			tool.Params[i].Summary = "x"
		}
		for i := range tool.Envelope.Elements {
			tool.Envelope.Elements[i].Summary = "x"
		}
	}
	if diff := cmp.Diff(lock.Facts(irtest.Contract()), lock.Facts(c)); diff != "" {
		t.Errorf("facts (-before +after):\n%s", diff)
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	got, err := lock.Parse([]byte("# comment\r\n\ntool b\r\ntool a\ntool b\n"))
	if diff := cmp.Diff([]string{"tool a", "tool b"}, got); diff != "" || err != nil {
		t.Errorf("facts: %v\n%s", err, diff)
	}
	for _, c := range []struct{ text, want string }{
		{"tool a\n<<<<<<< HEAD", `line 2: "<<<<<<< HEAD" is no fact of a contract: no "<<<<<<<" is known here`},
		{"tool a\rb", `line 1: "tool a\rb" is no fact of a contract: "a\rb" is no name`},
		{"tool", `line 1: "tool" is no fact of a contract: "" is no name`},
		{"tool a b", `line 1: "tool a b" is no fact of a contract: "a b" is no name`},
		{"tool a, attribute b", `line 1: "tool a, attribute b" is no fact of a contract: no "attribute" is known here`},
		{"tool a: colour = 1", `line 1: "tool a: colour = 1" is no fact of a contract: no key "colour" is known here`},
		{"tool a: effect", `line 1: "tool a: effect" is no fact of a contract: no key "effect" is known here`},
		{"tool a: effect = 1", `line 1: "tool a: effect = 1" is no fact of a contract: effect cannot have the value 1`},
		{"tool a: effect = null", `line 1: "tool a: effect = null" is no fact of a contract: effect cannot have the value null`},
		{"tool a: exclusive = \"b\"", `line 1: "tool a: exclusive = \"b\"" is no fact of a contract: exclusive cannot have the value "b"`},
		{"tool a, parameter b: max_length = 1.5", `line 1: "tool a, parameter b: max_length = 1.5" is no fact of a contract: max_length cannot have the value 1.5`},
		{"tool a, parameter b: required = false", `line 1: "tool a, parameter b: required = false" is no fact of a contract: required cannot have the value false`},
		{"tool a, parameter b: default = [1", `line 1: "tool a, parameter b: default = [1" is no fact of a contract: default cannot have the value [1`},
	} {
		if _, err := lock.Parse([]byte(c.text)); err == nil || err.Error() != c.want {
			t.Errorf("Parse(%q):\n got %v\nwant %s", c.text, err, c.want)
		}
	}
}

// A line that a person has edited means what it meant.
func TestWhiteSpaceInValuesIsNoChange(t *testing.T) {
	t.Parallel()
	changes, err := lock.Compare([]string{`tool a: exclusive = ["b","c"]`}, []string{`tool a: exclusive = [ "b", "c" ]`}, today)
	if err != nil || len(changes) > 0 {
		t.Errorf("changes %v, %v", changes, err)
	}
}

// What a merge can leave behind is reported, not guessed about.
func TestCompareRefusesContradictions(t *testing.T) {
	t.Parallel()
	contradiction := []string{`tool a: effect = "read"`, `tool a: effect = "write"`}
	want := `tool a has two values for effect: "read" and "write"`
	if _, err := lock.Compare(contradiction, nil, today); err == nil || err.Error() != "old contract: "+want {
		t.Errorf("error %v", err)
	}
	if _, err := lock.Compare(nil, contradiction, today); err == nil || err.Error() != "new contract: "+want {
		t.Errorf("error %v", err)
	}
	if _, err := lock.Compare([]string{"nonsense"}, nil, today); err == nil {
		t.Error("a line that is no fact is accepted")
	}
}

// A difference is never silent: whichever fact of a contract goes, or comes, a
// change says so. Some facts only spell out what others imply.
func TestEveryFactCounts(t *testing.T) {
	t.Parallel()
	facts := lock.Facts(irtest.Contract())
	implied := func(fact string) bool {
		prefix := strings.HasPrefix(fact, "tool ") && !strings.Contains(fact, ": ")
		order := strings.Contains(fact, ": attributes = ") || strings.Contains(fact, ": children = ")
		others := 0
		for _, f := range facts {
			if strings.HasPrefix(f, fact+",") || strings.HasPrefix(f, fact+":") {
				others++
			}
		}
		return prefix && others > 0 || order
	}
	for i, fact := range facts {
		if implied(fact) {
			continue
		}
		without := slices.Delete(slices.Clone(facts), i, i+1)
		for _, c := range []struct{ old, after []string }{{facts, without}, {without, facts}} {
			changes, err := lock.Compare(c.old, c.after, today)
			if err != nil || len(changes) == 0 {
				t.Errorf("%s made no change: %v", fact, err)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	files, err := lock.Emit(irtest.Hostile())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(files[0].Data))
	f.Add("error blank\r\r")
	f.Add("tool a: exclusive = [\"b\",\"b\"]\ntool a, element e: children = []")
	f.Fuzz(func(t *testing.T, text string) {
		facts, err := lock.Parse([]byte(text))
		if err != nil {
			return
		}
		// A contradiction is an error; everything else equals itself.
		if changes, err := lock.Compare(facts, facts, today); err == nil && len(changes) > 0 {
			t.Errorf("facts differ from themselves: %v", changes)
		}
		if _, err := lock.Compare(facts, lock.Facts(irtest.Contract()), today); err == nil {
			again, err := lock.Parse([]byte(strings.Join(facts, "\n")))
			if err != nil || !slices.Equal(again, facts) {
				t.Errorf("facts do not survive being written: %v", err)
			}
		}
	})
}
