package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/model/modeltest"
	"github.com/convtools/convtools/runtime/store/claudecode"
)

// slowHook gives the start hook in the agent's configuration more time than people give it: this machine may be busy.
func (w *worker) slowHook() error {
	file := filepath.Join(w.home, filepath.FromSlash(w.Config))
	before, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	after := bytes.Replace(before, []byte(` start-hook"`), []byte(` start-hook --within 20s"`), 1)
	if bytes.Equal(before, after) {
		return fmt.Errorf("install --hook left %s without a start hook", w.Config)
	}
	return os.WriteFile(file, after, 0o600)
}

// checkStarted returns an error unless the first request of a session has the element of the start hook once, with a line
// for each title. In a session without titles, the request must not have the element.
func (w *worker) checkStarted(s session) error {
	exchanges := w.model.Exchanges()
	asked := slices.IndexFunc(exchanges, func(e modeltest.Exchange) bool {
		return len(e.Tools) > 0 && bytes.Contains(e.Body, []byte(s.Question))
	})
	if asked < 0 {
		return fmt.Errorf("the model was not asked %q", s.Question)
	}
	element := regexp.MustCompile("<" + claudecode.StartElement + ">.*?</" + claudecode.StartElement + ">")
	seen := element.FindAllString(string(exchanges[asked].Body), -1)
	if want := min(len(s.Started), 1); len(seen) != want {
		return fmt.Errorf("the model saw %d elements of the start hook, want %d: %q", len(seen), want, seen)
	}
	if len(seen) == 0 {
		return nil
	}
	text := strings.ReplaceAll(seen[0], `\n`, "\n") // the body is JSON
	lines := strings.Split(text, "\n")
	const maxLines, maxChars = 5, 600 // of the element
	if len(lines) != 1+len(s.Started) || len(lines) > maxLines || utf8.RuneCountInString(text) > maxChars {
		return fmt.Errorf("the start hook printed %d lines and %d characters:\n%s", len(lines), utf8.RuneCountInString(text), text)
	}
	for i, line := range lines[1:] { // the first line has no title
		if !strings.Contains(line, s.Started[i]) {
			return fmt.Errorf("the start hook did not print %q in line %d:\n%s", s.Started[i], 2+i, text)
		}
	}
	return nil
}
