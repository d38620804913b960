// Package document shows recorded conversations to people: as HTML, for a page or as one file, and as Markdown.
//
// Recorded text stays text. It opens and closes no element and runs nothing, and nothing in it is loaded from anywhere:
// an image is a link, and a link opens in a new tab. The package reads no conversation and writes no file.
package document

import (
	"embed"
	"html/template"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/yuin/goldmark"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

//go:embed *.html *.css
var files embed.FS

// Style returns the stylesheet of all documents.
func Style() string {
	style, _ := files.ReadFile("document.css") // it is embedded
	return string(style)
}

// Renderer turns events into entries. It is safe for concurrent use.
type Renderer struct {
	// Event returns the address of an event; nil means its place in the document.
	Event func(number int) string
	// Whole returns the address of the whole text of an event. Nil means that documents show whole texts.
	Whole func(number int) string
	// Dir is the directory of the conversation: files below it are named from there.
	Dir string

	markdown goldmark.Markdown
}

// NewRenderer returns a renderer for documents that stand alone.
func NewRenderer() *Renderer { return &Renderer{markdown: newMarkdown()} }

// Templates returns the templates of a document, such as "entry" for an [Entry]. Others can be added to them.
func Templates() *template.Template {
	functions := template.FuncMap{
		"count":   text.Count,
		"clock":   func(t time.Time) string { return t.Local().Format("15:04") },
		"day":     Day,
		"machine": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	}
	return template.Must(template.New("").Funcs(functions).ParseFS(files, "*.html"))
}

// Day returns the day of a time for people, where they are; empty for the zero time.
func Day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("Mon 2 Jan 2006")
}

// Entry is an event for people, or a call of a tool and its result, which are two events.
type Entry struct {
	Number int
	Link   string // to the event
	Class  string // user, assistant, reasoning, tool or note
	Who    string // who speaks
	Title  string // of a request: its beginning
	Time   time.Time
	NewDay bool // it is the first entry of a day
	Body   template.HTML
	Text   *Block // in place of Body, for what is not Markdown
	Call   *Call  // in place of Body, for a tool
}

// maxMessage is the number of bytes of a message that is shown as Markdown. A longer one is a text.
const maxMessage = 64 << 10

// Entries returns the events with a number as entries, in order. The result of one of the calls is in the call's entry.
func (r *Renderer) Entries(events []conversations.Event) []Entry {
	var entries []Entry
	unanswered := map[string]*Call{} // by id
	lastDay := ""
	for i := range events {
		e := &events[i]
		if e.Number == 0 { // it has nothing to read
			continue
		}
		if call := unanswered[e.CallID]; call != nil && e.Kind == transcript.KindToolResult {
			delete(unanswered, e.CallID)
			call.setResult(r, e)
			continue
		}
		entry := r.entry(e)
		if entry.Call != nil && e.Kind == transcript.KindToolCall && e.CallID != "" {
			unanswered[e.CallID] = entry.Call
		}
		if day := Day(e.Time); day != "" && day != lastDay {
			lastDay, entry.NewDay = day, true
		}
		entries = append(entries, entry)
	}
	return entries
}

// entry returns the entry of an event.
func (r *Renderer) entry(e *conversations.Event) Entry {
	entry := Entry{Number: e.Number, Link: r.link(e.Number), Time: e.Time, Class: "note", Who: e.RoleName()}
	switch e.Kind {
	case transcript.KindUser:
		entry.Class, entry.Who, entry.Title = "user", "You", Beginning(string(e.Body()))
	case transcript.KindAssistant:
		entry.Class, entry.Who = "assistant", "Assistant"
	case transcript.KindReasoning:
		entry.Class, entry.Who = "reasoning", "Thinking"
	case transcript.KindToolCall:
		entry.Class, entry.Who, entry.Call = "tool", "", r.call(e)
	case transcript.KindToolResult:
		entry.Class, entry.Who, entry.Call = "tool", "", r.loneResult(e)
	case transcript.KindInquiryResponse:
		entry.Class, entry.Who = "user", "Answer"
	}
	said := text.Visible(string(e.Body()))
	switch {
	case entry.Call != nil: // it has blocks
	case e.Kind == transcript.KindStructured || e.Kind == transcript.KindSystem || len(said) > maxMessage:
		entry.Text = r.block(e.Number, said)
	default:
		entry.Body = r.message(said)
	}
	return entry
}

// link returns the address of an event.
func (r *Renderer) link(number int) string {
	if r.Event == nil {
		return Anchor(number)
	}
	return r.Event(number)
}

// Anchor returns the place of an event in a document.
func Anchor(number int) string { return "#event-" + strconv.Itoa(number) }

// maxTitle is the number of characters of a title.
const maxTitle = 100

// Beginning returns the first characters of a text as one line, for a title.
func Beginning(said string) string {
	said = strings.TrimSpace(said)
	said = strings.ToValidUTF8(said[:min(len(said), maxTitle*utf8.UTFMax)], "")
	return text.Cut(text.Line(strings.Join(strings.Fields(said), " ")), maxTitle)
}

// Limits of a text that is not Markdown.
const (
	shownLines = 24       // the rest is folded
	shownBytes = 16 << 10 // the rest is somewhere else, see [Renderer.Whole]
)

// Block is a text that is shown as it is: its first lines, the others folded. A block can be a diff instead.
type Block struct {
	Name  string // of a file; empty for none
	Head  string // the first lines
	Rest  string // the folded lines
	Lines int    // of Rest
	Diff  []DiffLine
	Cut   int    // bytes after Rest that are left out
	Whole string // the address of the whole text; empty for none
}

// block returns a block with the first lines of said, and the other lines folded. said is the text of an event, as
// [text.Visible] returns it. If r has addresses of whole texts, the block leaves out the end of a long text.
func (r *Renderer) block(number int, said string) *Block {
	const leastFolded = 4 // lines; to fold fewer would save nothing
	b := &Block{}
	shown := strings.Trim(said, "\n")
	if r.Whole != nil && len(shown) > shownBytes {
		beginning := strings.ToValidUTF8(shown[:shownBytes], "")
		b.Cut, b.Whole = len(shown)-len(beginning), r.Whole(number)
		shown = beginning
	}
	lines := strings.SplitAfter(shown, "\n")
	head := len(lines)
	if head >= shownLines+leastFolded {
		head = shownLines
	}
	b.Head, b.Rest, b.Lines = strings.Join(lines[:head], ""), strings.Join(lines[head:], ""), len(lines)-head
	return b
}
