package document

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
)

// WriteHTML writes a conversation as one file, which needs no other and no network.
func (r *Renderer) WriteHTML(w io.Writer, of *conversations.Reading, events []conversations.Event) error {
	sum := sha256.Sum256([]byte(Style()))
	out := bufio.NewWriter(w)
	err := Templates().ExecuteTemplate(out, "export", struct {
		Title    string
		Style    template.CSS
		StyleSum string
		Facts    []string
		Problems []string
		Entries  []Entry
	}{
		titleOf(of), template.CSS(Style()), "sha256-" + base64.StdEncoding.EncodeToString(sum[:]), //nolint:gosec // the style is embedded
		factsOf(of), problemsOf(of), r.Entries(events),
	})
	return cmp.Or(err, out.Flush())
}

// WriteMarkdown writes a conversation as Markdown.
func (r *Renderer) WriteMarkdown(w io.Writer, of *conversations.Reading, events []conversations.Event) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "# %s\n\n%s\n", r.plain(titleOf(of)), r.plain(strings.Join(factsOf(of), " · ")))
	for _, problem := range problemsOf(of) {
		fmt.Fprintf(out, "\n%s\n", r.plain(problem))
	}
	bodies := map[int]string{}
	for i := range events {
		bodies[events[i].Number] = strings.Trim(text.Visible(string(events[i].Body())), "\n")
	}
	for _, e := range r.Entries(events) {
		switch {
		case e.Call != nil:
			writeCall(out, &e)
		case e.Text != nil:
			fmt.Fprintf(out, "\n## %s · %d\n\n%s", r.plain(e.Who), e.Number, fenced("", e.Text.Head+e.Text.Rest))
		default:
			fmt.Fprintf(out, "\n## %s · %d\n\n%s\n", r.plain(e.Who), e.Number, r.plain(bodies[e.Number]))
		}
	}
	return out.Flush()
}

// writeCall writes a call and its result as Markdown.
func writeCall(w io.Writer, e *Entry) {
	about := ""
	if e.Call.About != "" {
		about = " " + code(e.Call.About)
	}
	fmt.Fprintf(w, "\n### %s%s · %d\n", code(e.Call.Tool), about, e.Number)
	for _, b := range e.Call.Input {
		language, said := "", b.Head+b.Rest
		if b.Diff != nil {
			language = "diff"
			for _, line := range b.Diff {
				said += line.Text + "\n"
			}
		}
		fmt.Fprintf(w, "\n%s", fenced(language, said))
	}
	if out := e.Call.Output; out != nil && out.Head != "" {
		fmt.Fprintf(w, "\nResult · %d\n\n%s", out.Number, fenced("", out.Head+out.Rest))
	}
}

// fenced returns a block of code that no line of the text ends.
func fenced(language, said string) string {
	fence := strings.Repeat("`", max(3, longest(said)+1))
	return fence + language + "\n" + ended(said) + fence + "\n"
}

// code returns a text of one line as code.
func code(said string) string {
	fence := strings.Repeat("`", longest(said)+1)
	if strings.HasPrefix(said, "`") || strings.HasSuffix(said, "`") {
		said = " " + said + " "
	}
	return fence + said + fence
}

// longest returns the length of the longest run of backticks.
func longest(said string) (most int) {
	run := 0
	for _, c := range []byte(said) {
		run++
		if c != '`' {
			run = 0
		}
		most = max(most, run)
	}
	return most
}

func titleOf(of *conversations.Reading) string {
	return cmp.Or(strings.TrimSpace(text.Line(of.Title)), string(of.ID))
}

// factsOf returns the id, the day, the program and the number of events of a conversation.
func factsOf(of *conversations.Reading) []string {
	facts := []string{string(of.ID), text.Count(of.Events, "event", "events")}
	if day := Day(of.CreatedAt); day != "" {
		facts = append(facts, day)
	}
	return facts
}

func problemsOf(of *conversations.Reading) []string {
	if of.Damage == nil {
		return nil
	}
	return []string{"The record is damaged, and this is what comes before: " + text.Line(of.Damage.Err.Error())}
}
