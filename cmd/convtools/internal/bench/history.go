package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/convtools/convtools/cmd/convtools/internal/claudehome"
	"github.com/convtools/convtools/cmd/convtools/internal/mcpclient"
)

// The bounds for sessions that another program recorded.
const (
	textShare        = 6 // one byte in six is text, as in 369 MB of real sessions, which have 62 MB of text
	firstSearchBound = 3500 * time.Millisecond
	processBound     = 40 * time.Millisecond
	serverBound      = 15 * time.Millisecond
)

// needle is a word in one message of each session.
const needle = "zanderquoll"

// history measures the first search of sessions of Claude Code, which reads all
// sessions. Then it measures searches and lists by new processes and by a server.
func (b *bench) history(ctx context.Context) error {
	dir := filepath.Join(b.dir, "history")
	home := claudehome.New(dir, "project")
	if err := b.writeSessions(home); err != nil {
		return fmt.Errorf("writing sessions: %w", err)
	}
	size, err := sizeOf(home.Folder())
	if err != nil {
		return err
	}
	convtools := func(args ...string) program {
		return program{path: b.convtools, args: append(args, "--workspace", home.Project), home: home.Dir}
	}
	grep := convtools("conversation", "grep", "-F", "json", "--output=count", needle)
	start := time.Now()
	out, err := grep.output(ctx)
	took := time.Since(start)
	if err := errors.Join(err, b.checkSessions(out)); err != nil {
		return err
	}
	b.table.Add(within("sessions: first search of "+megabytes(size), took, firstSearchBound, "nothing is kept"))
	list := convtools("conversation", "ls", "-F", "json")
	if out, err = list.output(ctx); err != nil {
		return err
	}
	if err := b.checkSessions(out); err != nil {
		return err
	}
	server, err := mcpclient.Start(ctx, convtools("mcp").command(ctx))
	if err != nil {
		return err
	}
	defer server.Close() //nolint:errcheck // everything is measured
	programs := []program{grep, list}
	runs := []run{grep.run(ctx), list.run(ctx)}
	for _, call := range []struct{ tool, argument, value string }{
		{"conversation_recall", "query", needle},
		{"conversation_grep", "pattern", needle},
		{"conversation_search", "query", needle},
		{"conversation_list", "title_contains", "the"},
	} {
		p := convtools("call", call.tool, call.argument+"="+call.value)
		programs = append(programs, p)
		runs = append(runs, p.run(ctx), calls(ctx, server, call.tool, map[string]any{call.argument: call.value}))
	}
	results, err := inTurn(b.size.runs, runs...)
	if err != nil {
		return err
	}
	n := 0 // the next result: one for each program, and a second one for a call in a server
	for _, p := range programs {
		name := "sessions: " + strings.Join(p.args[:2], " ")
		b.table.Add(within(name, results[n].median(), processBound, "median"))
		n++
		if p.args[0] == "call" {
			b.table.Add(within(name+", in a server", results[n].median(), serverBound, "median"))
			n++
		}
	}
	if err := b.hiding(ctx, home, server); err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// writeSessions writes the sessions of a project. Each session has the needle in one message. Beside each text, a record
// has five times as many other bytes, because textShare is 6: in real sessions, one byte in six is text.
func (b *bench) writeSessions(home claudehome.Home) error {
	const messageSize = 800 // bytes of the text of a message with the members of its record, about
	perSession := int(b.size.history/messageSize/textShare) / b.size.sessions
	corpus := newCorpus()
	for session := range b.size.sessions {
		messages := func(yield func(claudehome.Message) bool) {
			for m := range corpus.messages(session, perSession) {
				if m.conversation == 0 && m.number == perConversation { // the last message of the first conversation
					m.text += "\n" + needle
				}
				if !yield(claudehome.Message{Role: m.role, Text: m.text, Other: strings.Repeat(m.text, textShare-1)}) {
					return
				}
			}
		}
		start := time.Date(2026, 3, 1, session, 0, 0, 0, time.UTC)
		if err := home.Write(fmt.Sprintf("00000000-0000-4000-8000-%012d", session), start, messages); err != nil {
			return err
		}
	}
	return nil
}

// checkSessions returns an error unless convtools printed each session once.
func (b *bench) checkSessions(printed []byte) error {
	var sessions []struct{}
	err := json.Unmarshal(printed, &sessions)
	if err == nil && len(sessions) != b.size.sessions {
		err = fmt.Errorf("convtools prints %d of %d sessions", len(sessions), b.size.sessions)
	}
	return err
}
