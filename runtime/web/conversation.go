package web

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/transcript"
	"github.com/convtools/convtools/runtime/web/document"
)

// perPart is the number of events that a page of a conversation has.
const perPart = 100

// conversationPage is the part of a conversation that a page shows.
type conversationPage struct {
	frame
	Row         row
	Started     time.Time
	Dir         string
	Resume      string // the command that goes on with it; empty for none
	Events      int
	First, Last int // the events of this part
	Before      string
	After       string
	Entries     []document.Entry
	Requests    []request
	Related     []related
	Problems    []string
}

// request is a request of the user, for the list at the side.
type request struct {
	Number         int
	Address, Title string
	IsHere         bool // it is on this page
}

// conversation shows a part of the events of a conversation. It sends the head of the page before it reads the events.
// With part=entries in the address it sends the events alone.
func (s *Server) conversation(w http.ResponseWriter, r *http.Request) error {
	library, end, err := s.begin(r, true)
	if err != nil {
		return err
	}
	defer end()
	id, err := conversations.ParseID(r.PathValue("id"))
	if err != nil {
		return err
	}
	listing, err := library.List(r.Context(), conversations.ListQuery{Filter: conversations.Filter{IDs: []string{string(id)}}, NoEvents: true})
	if err != nil {
		return err
	}
	c := &listing.Conversations[0]
	p := &conversationPage{frame: s.frame(r, titleOf(c)), Started: c.CreatedAt, Dir: text.Line(config.Short(c.Dir, s.host.Getenv))}
	p.Row = rowOf(c, true)
	if command := conversations.ResumeCommand(&c.Conversation); len(command) > 0 {
		line := process.JoinCommand("cd", cmp.Or(c.Dir, ".")) + " && " + process.JoinCommand(command...)
		if line == text.Line(line) { // a terminal acts on control characters that are pasted, even in quotes
			p.Resume = line
		}
	}
	templateName := "part"
	if isWholePage := r.URL.Query().Get("part") != "entries"; isWholePage {
		templateName = "conversation-rest"
		if err := s.show(w, "conversation-head", p); err != nil {
			return err
		}
		_ = http.NewResponseController(w).Flush() // a recorder in a test cannot
	}
	if err := s.read(r, library, p); err != nil {
		p.Problems = append(p.Problems, problemOf(err).sentence)
	}
	return s.show(w, templateName, p)
}

// read sets the events of a page, and the requests of the user and the relatives of the conversation. The page begins
// with the event "from" of the address, or has the event "event".
func (s *Server) read(r *http.Request, library *conversations.Library, p *conversationPage) error {
	values := r.URL.Query()
	p.First, _ = strconv.Atoi(values.Get("from"))
	if event, err := strconv.Atoi(values.Get("event")); err == nil {
		pagesBefore := (event - 1) / perPart
		p.First = pagesBefore*perPart + 1
	}
	p.First = max(p.First, 1)
	var shown []conversations.Event
	reading, events, err := library.Read(r.Context(), conversations.ReadQuery{ID: string(p.Row.ID)})
	if err != nil {
		return err
	}
	for e := range events {
		isHere := e.Number >= p.First && e.Number < p.First+perPart
		if isHere {
			shown = append(shown, *e)
			p.Last = e.Number
		}
		if e.Kind == transcript.KindUser {
			p.Requests = append(p.Requests, request{
				Number: e.Number, Address: eventAddress(p.Row.ID, p.First, e.Number), Title: document.Beginning(string(e.Body())), IsHere: isHere,
			})
		}
	}
	p.Events = reading.Events
	if reading.Damage != nil {
		p.Problems = append(p.Problems, "The record is damaged, and this is what comes before: "+text.Line(reading.Damage.Err.Error()))
	}
	if p.First > 1 {
		p.Before = fmt.Sprintf("/c/%s?from=%d", p.Row.ID, max(p.First-perPart, 1))
	}
	if p.Last < p.Events && p.Last > 0 {
		p.After = fmt.Sprintf("/c/%s?from=%d", p.Row.ID, p.Last+1)
	}
	renderer := *s.renderer // a copy, with the addresses of this conversation
	renderer.Dir = reading.Dir
	renderer.Event = func(n int) string { return eventAddress(p.Row.ID, p.First, n) }
	renderer.Whole = func(n int) string { return fmt.Sprintf("/c/%s/%d", p.Row.ID, n) }
	p.Entries = renderer.Entries(shown)
	p.Related, err = relatedTo(r.Context(), library, p.Row.ID)
	return err
}

// eventAddress returns the address of an event: a place on the page that begins with the event first, or another page.
func eventAddress(id transcript.ID, first, event int) string {
	if event >= first && event < first+perPart {
		return document.Anchor(event)
	}
	return conversationAddress(id, event)
}

// wholeEvent sends the whole text of one event as plain text.
func (s *Server) wholeEvent(w http.ResponseWriter, r *http.Request) error {
	library, end, err := s.begin(r, true)
	if err != nil {
		return err
	}
	defer end()
	number, err := strconv.Atoi(r.PathValue("event"))
	if err != nil || number < 1 {
		return &problem{http.StatusNotFound, "There is no such page."}
	}
	_, events, err := library.Read(r.Context(), conversations.ReadQuery{ID: r.PathValue("id"), Events: conversations.EventRange{First: number, Last: number}})
	if err != nil {
		return err
	}
	for e := range events {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, text.Visible(string(e.Body()))) // a browser that is gone needs no answer
	}
	return nil
}
