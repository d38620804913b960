package web

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/toolset"
)

// familyPage is the page of a tool family, or the content of one of its items.
type familyPage struct {
	frame
	Page    toolset.Page
	Items   []toolset.Item
	IsLive  bool
	URI     string // of the item whose content is shown
	Content string
}

// findPage returns the page with a name and its family. The error is a [*problem].
func (s *Server) findPage(name string) (toolset.Family, toolset.Page, error) {
	for _, family := range s.families {
		for _, page := range family.Pages {
			if page.Name == name {
				return family, page, nil
			}
		}
	}
	return toolset.Family{}, toolset.Page{}, &problem{http.StatusNotFound, "There is no such page."}
}

// callContext returns the context in which families show their pages: the server's project.
func (s *Server) callContext() contract.Context { return contract.Context{Dir: s.host.Dir} }

// familyPage shows the page of a family: the list of its items, or the content of the item at the address in "uri".
func (s *Server) familyPage(w http.ResponseWriter, r *http.Request) error {
	family, page, err := s.findPage(r.PathValue("name"))
	if err != nil {
		return err
	}
	p := &familyPage{frame: s.frame(r, page.Title), Page: page, IsLive: page.Version != nil, URI: r.URL.Query().Get("uri")}
	if err := s.checkExcluded(); err != nil {
		return err
	}
	if p.URI == "" {
		p.Items, err = page.Show(r.Context(), s.callContext())
		if err != nil {
			return err
		}
		return s.show(w, "family.html", p)
	}
	var lastErr error = &problem{http.StatusNotFound, "There is no such page."}
	for _, resources := range family.Resources {
		contents, err := resources.Read(r.Context(), s.callContext(), p.URI)
		if err == nil {
			p.Content = text.Visible(contents.Text)
			return s.show(w, "family.html", p)
		}
		lastErr = err
	}
	return lastErr
}

// checkExcluded returns an error if the user has excluded the conversations of the project, but for no other problem.
func (s *Server) checkExcluded() error {
	library, err := s.open(false)
	if err == nil {
		return library.Close()
	}
	if isExcluded := problemOf(err).status == http.StatusForbidden; isExcluded {
		return err
	}
	return nil
}

// Intervals of a live page.
const (
	lookTime  = time.Second
	quietTime = 15 * time.Second // until a comment shows that the server is there
)

// live sends the items of a page whenever they change, until the request or the server ends, as server-sent events:
// https://html.spec.whatwg.org/multipage/server-sent-events.html
func (s *Server) live(w http.ResponseWriter, r *http.Request) error {
	_, page, err := s.findPage(r.PathValue("name"))
	if err != nil || page.Version == nil {
		return &problem{http.StatusNotFound, "There is no such page."}
	}
	if err := s.checkExcluded(); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w)
	version, lastSent := "", time.Now()
	for {
		if now := page.Version(r.Context(), s.callContext()); now != version {
			version, lastSent = now, time.Now()
			s.sendItems(r.Context(), w, page)
		} else if time.Since(lastSent) > quietTime {
			lastSent = time.Now()
			fmt.Fprint(w, ": still here\n\n")
		}
		if flush.Flush() != nil { // the browser is gone
			return nil
		}
		s.used.Store(s.host.Now().Unix()) // the server is not idle
		select {
		case <-time.After(lookTime):
		case <-r.Context().Done():
			return nil
		case <-s.ending:
			return nil
		}
	}
}

// sendItems sends the items of a page as one event. It sends nothing if the page cannot be shown.
func (s *Server) sendItems(ctx context.Context, w http.ResponseWriter, page toolset.Page) {
	items, err := page.Show(ctx, s.callContext())
	if err != nil {
		return // the next change is shown
	}
	var b bytes.Buffer
	if s.templates.ExecuteTemplate(&b, "items", &familyPage{Page: page, Items: items}) != nil {
		return
	}
	for line := range bytes.Lines(b.Bytes()) {
		fmt.Fprintf(w, "data: %s\n", bytes.TrimRight(line, "\n"))
	}
	fmt.Fprint(w, "\n")
}
