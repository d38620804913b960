package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/convtools/convtools/runtime/contract"
)

// A client with an old list, in which a changed tool is reading, cannot run it under any of its names.
func TestStaleList(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("LOCALAPPDATA", t.TempDir())
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const tool = "name = \"say.rows\"\nsummary = \"Print\"\ndescription = \"Prints.\"\neffect = \"read\"\n[[aliases]]\nname = \"say.lines\"\nuntil = \"2099-01-01\"\n[command]\ncli = \"say\"\nargs = [\"one\"]\n"
	write("tools.toml", "specs = [\"specs/**/*.toml\"]\n[cli.say]\ncommand = [\"echo\"]\n")
	write("specs/say/rows.toml", tool)
	s := &served{dir: dir, stderr: io.Discard}
	s.load()
	if err := s.approve(io.Discard); err != nil {
		t.Fatal(err)
	}
	if described := s.descriptions(); described[0].Effect != "read" {
		t.Fatalf("an approved tool is offered as %s", described[0].Effect)
	}
	call := func(name, want string) {
		t.Helper()
		answer, err := s.call(t.Context(), contract.Call{Tool: name})
		if err != nil {
			answer = err.Error()
		}
		if !strings.Contains(answer, want) {
			t.Errorf("%s answers %q, without %q", name, answer, want)
		}
	}
	call("say_rows", "one")
	renamed := strings.NewReplacer(`name = "say.rows"`, `name = "say.words"`, `name = "say.lines"`, `name = "say.rows"`)
	for _, change := range []string{
		strings.Replace(tool, `"one"`, `"two"`, 1),
		renamed.Replace(strings.Replace(tool, `"one"`, `"two"`, 1)),
	} {
		write("specs/say/rows.toml", change)
		s.load()
		for _, name := range []string{"say.rows", "say_rows"} {
			call(name, "convgen approve")
		}
	}
	call("say.words", "convgen approve") // the old name was listed as reading
	if err := s.approve(io.Discard); err != nil {
		t.Fatal(err)
	}
	call("say_rows", "two")
	// The program of a command line is part of the approval.
	write("tools.toml", "specs = [\"specs/**/*.toml\"]\n[cli.say]\ncommand = [\"printf\"]\n")
	s.load()
	call("say.words", "convgen approve")
}
