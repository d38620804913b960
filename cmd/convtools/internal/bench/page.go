package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/convtools/convtools/cmd/convtools/internal/claudehome"
	"github.com/convtools/convtools/cmd/convtools/internal/table"
)

// The bounds of the page in a browser.
const (
	listedBound    = 50 * time.Millisecond
	answeredBound  = 60 * time.Millisecond
	firstByteBound = 30 * time.Millisecond // to the first byte
	pageMemory     = 150_000_000           // bytes
)

// longEvents is the number of events of the conversation that is shown.
const longEvents = 10_000

// page measures pages of convtools web over sessions of Claude Code, one of them long, and the memory of convtools web.
// Beside each page, it measures a static file of the same size. It measures agentsview first, if that can be installed.
func (b *bench) page(ctx context.Context) (err error) {
	dir := filepath.Join(b.dir, "page")
	home := claudehome.New(dir, "project")
	if err := errors.Join(b.writeSessions(home), writeLong(home)); err != nil {
		return fmt.Errorf("writing sessions: %w", err)
	}
	if err := b.agentsview(ctx, home); err != nil {
		b.table.Add(table.Row{Name: "page: agentsview", Result: "skipped", Detail: err.Error()})
	}
	server := program{path: b.convtools, args: []string{"web", "--no-browser", "--workspace", home.Project}, home: home.Dir}.command(ctx)
	out, err := server.StdoutPipe()
	if err != nil {
		return err
	}
	forgetPeak()
	if err := server.Start(); err != nil {
		return err
	}
	defer func() {
		_ = server.Process.Signal(os.Interrupt)
		err = errors.Join(err, server.Wait())
		peak := peakMemory(server.ProcessState)
		b.table.Add(table.Row{Name: "page: memory", Result: megabytes(peak), Bound: "at most " + megabytes(pageMemory), Missed: peak > pageMemory})
		err = errors.Join(err, os.RemoveAll(dir))
	}()
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return err
	}
	jar, _ := cookiejar.New(nil) // never fails
	client := &http.Client{Jar: jar}
	origin, _, _ := strings.Cut(address, "/?")
	if _, err := fetch(client, strings.TrimSpace(address)); err != nil {
		return err
	}
	static, stop, err := serveFile(dir)
	if err != nil {
		return err
	}
	defer stop()
	for _, page := range []struct {
		name, path string
		bound      time.Duration
	}{
		{"page: an answer", "/?part=results&q=" + needle, answeredBound}, // first: it makes the index
		{"page: list", "/", listedBound},
		{"page: list of all projects", "/?all=1", listedBound},
		{"page: conversation of 10,000 events, first byte", "/c/claude-" + longID, firstByteBound},
	} {
		var whole times // to the end of the page
		getPage := func() (time.Duration, error) {
			got, err := fetch(client, origin+page.path)
			whole = append(whole, got.whole)
			static.size.Store(got.size) // of the file that getFile gets
			if strings.HasPrefix(page.path, "/c/") {
				return got.first, err
			}
			return got.whole, err
		}
		getFile := wholly(client, static.address)
		results, err := inTurn(b.size.runs, getPage, getFile) // the times of each
		if err != nil {
			return err
		}
		detail := "whole " + milliseconds(whole.median()) + "; a file of its size " + milliseconds(results[1].median())
		b.table.Add(within(page.name, results[0].median(), page.bound, detail))
	}
	return nil
}

// agentsview measures the peer agentsview over the same sessions, and adds a row with the times that its API takes for
// what the page shows, and with its memory. It runs before convtools web, and not beside it, because agentsview goes on
// working after it has begun to answer.
func (b *bench) agentsview(ctx context.Context, home claudehome.Home) error {
	python, err := installPeers(ctx, filepath.Join(b.dir, "agentsview"), "agentsview==0.46.1")
	if err != nil {
		return err
	}
	server := program{
		path: filepath.Join(filepath.Dir(python), "agentsview"), args: []string{"serve", "--no-browser", "--no-update-check", "--port=0"},
		home: home.Dir, env: []string{"DO_NOT_TRACK=1", "AGENTSVIEW_TELEMETRY_ENABLED=0"},
	}.command(ctx)
	out, err := server.StdoutPipe()
	if err != nil {
		return err
	}
	start := time.Now()
	forgetPeak()
	if err := server.Start(); err != nil {
		return err
	}
	lines := bufio.NewScanner(out)
	api := "" // the address in the line "listening at ADDRESS"
	for api == "" && lines.Scan() {
		_, after, _ := strings.Cut(lines.Text(), "listening at ")
		api, _, _ = strings.Cut(after, " ")
	}
	took := time.Since(start)
	go func() { _, _ = io.Copy(io.Discard, out) }()
	results, err := inTurn(b.size.runs, wholly(http.DefaultClient, api+"/api/v1/search?limit=20&q="+needle),
		wholly(http.DefaultClient, api+"/api/v1/sessions?limit=50"), wholly(http.DefaultClient, api+"/api/v1/sessions/"+longID+"/messages?limit=100"))
	_ = server.Process.Signal(os.Interrupt)
	_ = server.Wait() // what it says then is not measured
	if err != nil {
		return err
	}
	b.table.Add(table.Row{
		Name: "page: agentsview, which answers with JSON", Result: megabytes(peakMemory(server.ProcessState)),
		Detail: fmt.Sprintf("reads all in %.0f s; an answer %s, list %s, conversation %s",
			took.Seconds(), milliseconds(results[0].median()), milliseconds(results[1].median()), milliseconds(results[2].median())),
	})
	return nil
}

// wholly returns a run that gets a page and measures the time to its end.
func wholly(client *http.Client, address string) run {
	return func() (time.Duration, error) {
		got, err := fetch(client, address)
		return got.whole, err
	}
}

// file is served beside the page, with the size of the page that was fetched last.
type file struct {
	address string
	size    atomic.Int64 // bytes
}

// serveFile writes a file into a directory and serves its first bytes, as many as file.size says, until stop is called.
func serveFile(dir string) (f *file, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it ends with the measurement
	if err != nil {
		return nil, nil, err
	}
	f = &file{address: "http://" + listener.Addr().String()}
	f.size.Store(1) // until the caller stores the size of a page
	name := filepath.Join(dir, "static.html")
	if err := os.WriteFile(name, make([]byte, 16<<20), 0o600); err != nil {
		return nil, nil, err
	}
	server := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if content, err := os.Open(name); err == nil {
			defer content.Close()
			_, _ = io.CopyN(w, content, f.size.Load()) // after an error the client gets too few bytes
		}
	})}
	go func() { _ = server.Serve(listener) }()
	return f, func() { _ = server.Close() }, nil
}

// fetched is how a page came.
type fetched struct {
	first, whole time.Duration // to the first byte, and to the end
	size         int64         // bytes
}

// fetch gets a page and measures how it comes. An answer with another status than 200 is an error.
func fetch(client *http.Client, address string) (f fetched, err error) {
	start := time.Now()
	answer, err := client.Get(address) //nolint:noctx // it is on this machine
	if err != nil {
		return f, err
	}
	defer answer.Body.Close()
	body := bufio.NewReader(answer.Body)
	_, err = body.Peek(1) // waits for the first byte
	f.first = time.Since(start)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", address, answer.Status)
	}
	if err == nil {
		f.size, err = io.Copy(io.Discard, body)
	}
	f.whole = time.Since(start)
	return f, err
}

// longID is the id of the long conversation.
const longID = "00000000-0000-4000-8000-00000000ffff"

// writeLong writes the long conversation. Ten events repeat: a request, its answer and four calls with results.
func writeLong(home claudehome.Home) error {
	return home.Write(longID, time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC), func(yield func(claudehome.Message) bool) {
		for i := range longEvents / 2 { // each turn writes two events
			role := "tool" // one message for two events: a call and its result
			if i%5 == 0 {
				role = "user" // a request, with an answer below
			}
			goesOn := yield(claudehome.Message{Role: role, Text: fmt.Sprintf("event %d: %s", i, strings.Repeat("the tide is high at noon. ", 20))})
			if goesOn && role == "user" {
				goesOn = yield(claudehome.Message{Role: "assistant", Text: strings.Repeat("It is, as the readings show. ", 20)})
			}
			if !goesOn {
				return
			}
		}
	})
}
