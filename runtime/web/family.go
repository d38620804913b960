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

// find returns a page of a family.
func (s *Server) find(name string) (toolset.Family, toolset.Page, error) {
	for _, family := range s.families {
		for _, page := range family.Pages {
			if page.Name == name {
				return family, page, nil
			}
		}
	}
	return toolset.Family{}, toolset.Page{}, &problem{http.StatusNotFound, "There is no such page."}
}

// where returns where a page looks.
func (s *Server) where() contract.Context { return contract.Context{Dir: s.host.Dir} }

// familyPage shows the page of a family.
func (s *Server) familyPage(w http.ResponseWriter, r *http.Request) error {
	family, page, err := s.find(r.PathValue("name"))
	if err != nil {
		return err
	}
	p := &familyPage{frame: s.frame(r, page.Title), Page: page, IsLive: page.Version != nil, URI: r.URL.Query().Get("uri")}
	if err := s.isExcluded(); err != nil {
		return err
	}
	if p.URI == "" {
		if p.Items, err = page.Show(r.Context(), s.where()); err != nil {
			return err
		}
		return s.show(w, "family.html", p)
	}
	for _, resources := range family.Resources {
		contents, err := resources.Read(r.Context(), s.where(), p.URI)
		if err != nil {
			return err
		}
		p.Content = text.Visible(contents.Text)
	}
	return s.show(w, "family.html", p)
}

// isExcluded returns an error if the user has excluded the conversations of the project.
func (s *Server) isExcluded() error {
	library, err := s.open(false)
	if err == nil {
		return library.Close()
	}
	if excluded := problemOf(err); excluded.status == http.StatusForbidden {
		return excluded
	}
	return nil
}

// Intervals of a live page.
const (
	lookTime  = time.Second
	quietTime = 15 * time.Second // until a comment shows that the server is there
)

// live sends the items of a page whenever they change, as server-sent events:
// https://html.spec.whatwg.org/multipage/server-sent-events.html
func (s *Server) live(w http.ResponseWriter, r *http.Request) error {
	_, page, err := s.find(r.PathValue("name"))
	if err != nil || page.Version == nil {
		return &problem{http.StatusNotFound, "There is no such page."}
	}
	if err := s.isExcluded(); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w)
	version, said := "", time.Now()
	for look := time.NewTicker(lookTime); ; {
		if now := page.Version(r.Context(), s.where()); now != version {
			version, said = now, time.Now()
			s.send(r.Context(), w, page)
		} else if time.Since(said) > quietTime {
			said = time.Now()
			fmt.Fprint(w, ": still here\n\n")
		}
		if flush.Flush() != nil {
			return nil
		}
		s.used.Store(s.host.Now().Unix())
		select {
		case <-look.C:
		case <-r.Context().Done():
			return nil
		case <-s.ending:
			return nil
		}
	}
}

// send sends the items of a page as one event.
func (s *Server) send(ctx context.Context, w http.ResponseWriter, page toolset.Page) {
	items, err := page.Show(ctx, s.where())
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
