// Package web is a page in a browser on this machine: all recorded conversations, what is said in them, and what tool
// families show to people.
//
// It serves the person who started it and nobody else, and changes nothing. Recorded text stays text: it opens no
// element, runs no script and loads nothing. Package document turns it into HTML.
package web

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/toolset"
	"github.com/convtools/convtools/runtime/transcript"
	"github.com/convtools/convtools/runtime/web/document"
)

//go:embed pages
var files embed.FS

// Limits of a server.
const (
	idleTime   = time.Hour // without a page that is open
	maxReading = 4         // requests that read conversations at once
	headerTime = 10 * time.Second
	stopTime   = 2 * time.Second // for requests to end with the server
)

// Server serves the pages of one project and of all.
type Server struct {
	host       *toolset.Host
	families   []toolset.Family
	indexes    *conversations.Indexes
	renderer   *document.Renderer
	templates  *template.Template
	style      []byte
	keys       keys
	reading    chan struct{} // has a value for each request that reads conversations
	ending     chan struct{} // closed when the server ends
	ticketUsed atomic.Bool
	used       atomic.Int64 // when the last request came, in seconds of Unix time
}

// New returns a server of the host's project and the pages of families.
func New(host *toolset.Host, families ...toolset.Family) *Server {
	s := &Server{
		host: host, families: families, indexes: conversations.OpenIndexes(host.Getenv), renderer: document.NewRenderer(),
		keys: newKeys(), reading: make(chan struct{}, maxReading), ending: make(chan struct{}),
	}
	s.templates = template.Must(document.Templates().Funcs(template.FuncMap{
		"line": text.Line, "visible": text.Visible, "number": text.Number, "add": func(a, b int) int { return a + b },
	}).ParseFS(files, "pages/*.html"))
	page, _ := fs.ReadFile(files, "pages/page.css") // it is embedded
	s.style = append([]byte(document.Style()), page...)
	return s
}

// Address returns the address with the token, for a listener.
func (s *Server) Address(l net.Listener) string {
	return addressWith(s.keys.token, l)
}

// addressWith returns the address with a token, or with the ticket.
func addressWith(token string, l net.Listener) string {
	return "http://" + l.Addr().String() + "/?token=" + token
}

// Serve serves the pages until ctx is done, or until no page was open for an hour.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	defer s.indexes.Close()
	var warming sync.WaitGroup
	defer warming.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server := &http.Server{
		Handler: s, ReadHeaderTimeout: headerTime, ReadTimeout: headerTime, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
		ErrorLog:    slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	s.used.Store(s.host.Now().Unix())
	warming.Go(func() { s.warm(ctx) })
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(ownListener{l}) }()
	for isEnding := false; !isEnding; {
		select {
		case err := <-failed:
			return fmt.Errorf("serving the page: %w", err)
		case <-time.After(time.Minute):
			isEnding = s.isIdle()
		case <-ctx.Done():
			isEnding = true
		}
	}
	close(s.ending)
	stopping, stop := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer stop()
	if server.Shutdown(stopping) != nil {
		_ = server.Close()
	}
	return nil
}

// isIdle reports whether no page has been open for an hour: an open one asks for /alive.
func (s *Server) isIdle() bool {
	return s.host.Now().Sub(time.Unix(s.used.Load(), 0)) > idleTime
}

// warm updates the indexes of all projects, so that the first question is answered fast.
func (s *Server) warm(ctx context.Context) {
	if library, err := s.open(true); err == nil {
		defer library.Close()
		_, _ = library.List(ctx, conversations.ListQuery{Sizes: true, Limit: 1}) // Sizes updates all indexes; a page reports the error
	}
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.admits(w, r) {
		s.used.Store(s.host.Now().Unix())
		s.routes().ServeHTTP(w, r)
	}
}

// routes returns the pages.
func (s *Server) routes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", s.page(s.list))
	mux.HandleFunc("/c/{id}", s.page(s.conversation))
	mux.HandleFunc("/c/{id}/{event}", s.page(s.wholeEvent))
	mux.HandleFunc("/p/{name}", s.page(s.familyPage))
	mux.HandleFunc("/p/{name}/live", s.page(s.live))
	mux.HandleFunc("/alive", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/style.css", s.asset("text/css", func() []byte { return s.style }))
	mux.HandleFunc("/script.js", s.asset("text/javascript", s.embedded("pages/script.js")))
	mux.HandleFunc("/icon.svg", s.asset("image/svg+xml", s.embedded("pages/icon.svg")))
	mux.HandleFunc("/", s.page(func(http.ResponseWriter, *http.Request) error {
		return &problem{http.StatusNotFound, "There is no such page."}
	}))
	return mux
}

// embedded returns a function that returns an embedded file.
func (s *Server) embedded(name string) func() []byte {
	return func() []byte {
		content, _ := files.ReadFile(name) // it is embedded
		return content
	}
}

// asset returns a handler that sends a content of a media type.
func (s *Server) asset(kind string, content func() []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind+"; charset=utf-8")
		_, _ = w.Write(content()) // a browser that is gone needs no answer
	}
}

// page returns a handler that calls answer. It shows an error of answer as a page with a sentence.
func (s *Server) page(answer func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := answer(w, r)
		if err == nil || r.Context().Err() != nil {
			return
		}
		p := problemOf(err)
		w.WriteHeader(p.status)
		_ = s.templates.ExecuteTemplate(w, "problem.html", struct {
			frame
			Sentence string
		}{s.frame(r, "Not shown"), p.sentence}) // a browser that is gone needs no answer
	}
}

// show writes a page of a template. If the template fails, show returns its error and writes nothing.
func (s *Server) show(w http.ResponseWriter, name string, content any) error {
	var b bytes.Buffer
	if err := s.templates.ExecuteTemplate(&b, name, content); err != nil {
		return err
	}
	_, _ = w.Write(b.Bytes()) // a browser that is gone needs no answer
	return nil
}

// frame is what all pages have in common.
type frame struct {
	Title string
	Here  string // the path of the page
	Query query
	Pages []toolset.Page
}

// frame returns the frame of the page of a request.
func (s *Server) frame(r *http.Request, title string) frame {
	f := frame{Title: title, Here: r.URL.Path, Query: queryOf(r)}
	for _, family := range s.families {
		f.Pages = append(f.Pages, family.Pages...)
	}
	return f
}

// open opens the conversations of the project, or of all projects, for one request.
func (s *Server) open(all bool) (*conversations.Library, error) {
	return conversations.Open(conversations.Options{
		Dir: s.host.Dir, AllProjects: all, Getenv: s.host.Getenv, Now: s.host.Now, Indexes: s.indexes, Once: true,
	})
}

// begin waits until fewer than maxReading requests read conversations, and opens the conversations of the project, or of
// all projects. The caller has to call end. The error is that of opening, or that of the request's context.
func (s *Server) begin(r *http.Request, all bool) (library *conversations.Library, end func(), err error) {
	select {
	case s.reading <- struct{}{}: // blocks while maxReading requests read
	case <-r.Context().Done():
		return nil, nil, r.Context().Err()
	}
	library, err = s.open(all)
	if err != nil {
		<-s.reading
		return nil, nil, err
	}
	return library, func() { _ = library.Close(); <-s.reading }, nil
}

// isOwn reports whether a recorded tool is one of the families' tools.
func (s *Server) isOwn(recorded string) bool {
	return slices.ContainsFunc(s.families, func(f toolset.Family) bool {
		return transcript.IsTool(recorded, contract.Names(f.Declared())...)
	})
}

// conversationAddress returns the address of the page of a conversation, at an event; 0 means its beginning.
func conversationAddress(id transcript.ID, event int) string {
	address := "/c/" + url.PathEscape(string(id))
	if event > 0 {
		address += "?event=" + strconv.Itoa(event) + document.Anchor(event)
	}
	return address
}

// problem is an error with a sentence for a person.
type problem struct {
	status   int
	sentence string
}

func (p *problem) Error() string { return p.sentence }

// sentenceOf returns a sentence about a conversation or a store that is not shown, or not whole.
func sentenceOf(p *conversations.Problem) string {
	name := cmp.Or(string(p.ID), p.Path)
	if p.Kind == store.Unreadable {
		name += " cannot be read"
	}
	return text.Line(name + ": " + p.Err.Error() + ".")
}

// problemOf returns the status of HTTP and the sentence for a person that an error stands for.
func problemOf(err error) *problem {
	var known *problem
	var missing *conversations.NotFoundError
	var badID *conversations.BadIDError
	var excluded *conversations.ExcludedError
	var outOfRange *conversations.RangeError
	var noItem *toolset.NotFoundError
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &missing) && len(missing.Unread) > 0:
		return &problem{http.StatusNotFound, "The conversation is not among those that can be read. " + sentenceOf(&missing.Unread[0])}
	case errors.As(err, &missing), errors.As(err, &badID):
		return &problem{http.StatusNotFound, "There is no such conversation. It may have been removed since this page was opened."}
	case errors.As(err, &outOfRange):
		return &problem{http.StatusNotFound, fmt.Sprintf("There is no event %d: the conversation has %s.", outOfRange.N, text.Count(outOfRange.Of, "event", "events"))}
	case errors.As(err, &excluded):
		return &problem{http.StatusForbidden, "The conversations of this project are excluded by " + excluded.By + "."}
	case errors.As(err, &noItem):
		return &problem{http.StatusNotFound, noItem.Reason}
	}
	return &problem{http.StatusInternalServerError, "This cannot be shown: " + err.Error() + "."}
}
