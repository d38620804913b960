package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// documents returns the documents for users, by their paths from the root: the README of the project, and those of
// folders below gen and runtime.
func documents(t testing.TB) map[string]string {
	t.Helper()
	root := os.DirFS("../..")
	texts := map[string]string{}
	paths := []string{"README.md"}
	for _, room := range []string{"gen", "runtime"} {
		err := fs.WalkDir(root, room, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.Name() == "README.md" && !strings.Contains(path, "testdata") {
				paths = append(paths, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range paths {
		text, err := fs.ReadFile(root, path)
		if err != nil {
			t.Fatal(err)
		}
		texts[path] = string(text)
	}
	return texts
}

// TestDocuments: documents are short, and their links lead somewhere.
func TestDocuments(t *testing.T) {
	t.Parallel()
	texts := documents(t)
	if len(texts) != 11 {
		t.Errorf("%d documents, want the README and those of ten rooms", len(texts))
	}
	for path, text := range texts {
		limit := 120
		if path == "README.md" {
			limit = 150
		}
		if n := strings.Count(text, "\n"); n > limit {
			t.Errorf("%s has %d lines, over %d", path, n, limit)
		}
		for _, link := range regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(text, -1) {
			target, heading, _ := strings.Cut(link[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			file := filepath.Join("../..", filepath.Dir(path), target)
			if target == "" {
				file = filepath.Join("../..", path)
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s: the link to %s leads nowhere", path, link[1])
				continue
			}
			if heading != "" {
				linked, err := os.ReadFile(file)
				if err != nil || !slices.Contains(headings(string(linked)), heading) {
					t.Errorf("%s: there is no heading %s", path, link[1])
				}
			}
		}
	}
}

// headings returns the headings of a document as links name them.
func headings(text string) []string {
	var list []string
	for _, h := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		words := regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(strings.ToLower(h[1]), "")
		list = append(list, strings.ReplaceAll(words, " ", "-"))
	}
	return list
}

// elsewhere matches a command that a test cannot run: it needs another program, a network, a
// person, or files of the reader's.
var elsewhere = regexp.MustCompile(`^(go|make|claude|jp|convgen|gittools|cd|\$EDITOR) |~/|…|^convtools (mcp|web|chat|query|install|uninstall|doctor|call conv\.|blame|forget|how|resume)`)

// TestCommandsOfDocuments runs the commands in the documents in the sample workspace. Of a command
// that a test cannot run, it checks only that the command and its flags exist. It compares each output
// in a document with the output of the command. It draws the picture again, and compares it with the
// picture in testdata.
func TestCommandsOfDocuments(t *testing.T) {
	t.Parallel()
	testdata, err := filepath.Abs("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	dir := t.TempDir()
	for path, text := range documents(t) {
		run, shown := "set -e\n", "" // the commands, and the output that the document shows
		for _, block := range regexp.MustCompile("(?ms)^```(sh|console)\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
			if block[1] == "console" {
				shown += block[2]
				for line := range strings.Lines(block[2]) {
					if command, ok := strings.CutPrefix(line, "$ "); ok {
						run += fmt.Sprintf("cat <<'EOF'\n%sEOF\n%s", line, command)
					}
				}
				continue
			}
			if lines := strings.Split(block[2], "\n"); !slices.ContainsFunc(lines, elsewhere.MatchString) {
				run += "(\n" + block[2] + ") >/dev/null\n"
				continue
			}
			for line := range strings.Lines(block[2]) {
				line, _, _ = strings.Cut(strings.TrimSpace(line), "  #")
				line, _, _ = strings.Cut(line, " > ")
				if strings.HasPrefix(line, "convtools ") {
					run += line + " --help >/dev/null\n"
				}
			}
		}
		enter := ""
		if shown != "" {
			enter = `. "$(dirname "$0")/sample.sh"` + "\n"
		}
		script := "[!unix] skip\nenv CONVTOOLS_CONVERSATION_ID=\nexec sh -c '. ../run.sh' $TESTDATA/demo.sh\ncmp stdout $WORK/shown\n-- run.sh --\n" + enter + run + "-- shown --\n" + shown
		file := filepath.Join(dir, strings.ReplaceAll(strings.TrimSuffix(path, ".md"), "/", "_")+".txtar")
		if err := os.WriteFile(file, []byte(script), 0o644); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	picture := filepath.Join(dir, "picture.txtar")
	if err := os.WriteFile(picture, []byte("[!unix] skip\nenv CONVTOOLS=convtools\nexec sh $TESTDATA/picture.sh\ncmp stdout $TESTDATA/picture.svg\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	files = append(files, picture)
	testscript.Run(t, testscript.Params{Files: files, Setup: func(env *testscript.Env) error {
		ws := filepath.Join(env.WorkDir, "ws")
		if err := os.CopyFS(ws, os.DirFS(filepath.Join(testdata, "workspaces/sample"))); err != nil {
			return err
		}
		env.Cd = ws
		env.Setenv("TESTDATA", testdata)
		env.Setenv("GORACE", "atexit_sleep_ms=0") // a program with the race detector waits a second at its end
		env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
		env.Setenv("JP_USER_DATA_DIR", filepath.Join(env.WorkDir, "data"))
		return nil
	}})
}
