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

// WriteHTML writes a conversation as one file of HTML, which loads nothing.
func (r *Renderer) WriteHTML(w io.Writer, reading *conversations.Reading, events []conversations.Event) error {
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
		titleOf(reading), template.CSS(Style()), "sha256-" + base64.StdEncoding.EncodeToString(sum[:]), //nolint:gosec // the style is embedded
		factsOf(reading), problemsOf(reading), r.Entries(events),
	})
	return cmp.Or(err, out.Flush())
}

// WriteMarkdown writes a conversation as Markdown, in which recorded HTML and images are text.
func (r *Renderer) WriteMarkdown(w io.Writer, reading *conversations.Reading, events []conversations.Event) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "# %s\n\n%s\n", r.plain(titleOf(reading)), r.plain(strings.Join(factsOf(reading), " · ")))
	for _, problem := range problemsOf(reading) {
		fmt.Fprintf(out, "\n%s\n", r.plain(problem))
	}
	bodies := map[int]string{} // of events, by number
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

// fenced returns a text as a fenced block of code. The fence is longer than any run of backticks in the text.
func fenced(language, said string) string {
	fence := strings.Repeat("`", max(3, text.LongestRun(said, '`')+1))
	return fence + language + "\n" + ended(said) + fence + "\n"
}

// code returns a text of one line as inline code. A space separates backticks at the ends of the text from the fence.
func code(said string) string {
	fence := strings.Repeat("`", text.LongestRun(said, '`')+1)
	if strings.HasPrefix(said, "`") || strings.HasSuffix(said, "`") {
		said = " " + said + " "
	}
	return fence + said + fence
}

// titleOf returns the title of a conversation as one line, or its id if it has none.
func titleOf(reading *conversations.Reading) string {
	return cmp.Or(strings.TrimSpace(text.Line(reading.Title)), string(reading.ID))
}

// factsOf returns the id and the number of events of a conversation, and the day of its beginning if that is known.
func factsOf(reading *conversations.Reading) []string {
	facts := []string{string(reading.ID), text.Count(reading.Events, "event", "events")}
	if day := Day(reading.CreatedAt); day != "" {
		facts = append(facts, day)
	}
	return facts
}

// problemsOf returns a sentence about the damage of a record; none if it is whole.
func problemsOf(reading *conversations.Reading) []string {
	if reading.Damage == nil {
		return nil
	}
	return []string{"The record is damaged, and this is what comes before: " + text.Line(reading.Damage.Err.Error())}
}
