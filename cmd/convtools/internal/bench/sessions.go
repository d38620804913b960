package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/cmd/convtools/internal/table"
	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/session/engine"
	"github.com/convtools/convtools/runtime/session/sessionlog"
)

// Bounds on sessions.
const (
	sendSyncedBound   = time.Millisecond // beside the syncs
	sendUnsyncedBound = 200 * time.Microsecond
	sessionListBound  = 50 * time.Millisecond
	manyBound         = 500 * time.Millisecond // a list of many sessions with all that is known of them
	recoveryBound     = 200                    // MB/s
)

// sessions measures a query beside those of agents, and then the engine of sessions in this process, with a model that
// answers at once. The former comes first since what needs memory here would count as theirs: see peakMemory.
func (b *builds) sessions(ctx context.Context, t *table.Table) (err error) {
	dir := filepath.Join(b.dir, "sessions")
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	for _, part := range []func(context.Context, *table.Table, string) error{b.query, b.sends, b.sessionList, b.manySessions, b.conversationList, b.recovery} {
		if err := part(ctx, t, dir); err != nil {
			return err
		}
	}
	return nil
}

const rootID, childID = "00000000-0000-4000-8000-000000000000", "00000000-0000-4000-8000-000000000001"

func startSession(id string) session.Start {
	return session.Start{
		Session: id, Root: rootID, Config: session.Config{MaxInterruptsPerTurn: 1 << 30, MaxSamplesPerTurn: 1 << 30, MaxConversations: 1 << 30},
		Context: session.Context{Capabilities: session.Capabilities{Internal: session.InternalTools{Conv: true}}},
	}
}

// sender is a model and its tools: the root creates a conversation, which answers at once, and sends to it again and
// again.
type sender struct {
	left  int // sends
	since time.Time
	took  []time.Duration // from each call of the root to its next request
}

func (s *sender) Sample(_ context.Context, r model.Request, _ func(string)) (model.Response, error) {
	if r.CacheKey != rootID {
		return model.Response{Items: []model.Item{model.Text(model.AgentMessage, strings.Repeat("an answer ", 20))}}, nil
	}
	if !s.since.IsZero() {
		s.took = append(s.took, time.Since(s.since))
	}
	s.left--
	if s.left < 0 {
		return model.Response{Items: []model.Item{model.Text(model.AgentMessage, "done")}}, nil
	}
	call := model.Item{Kind: model.ToolCall, CallID: "call", Name: "conv.send", Wire: "conv_send", Arguments: strings.Repeat("a question ", 20)}
	if len(r.Items) == 1 {
		call.Name = "conv.create"
	}
	s.since = time.Now()
	return model.Response{Items: []model.Item{call}}, nil
}

func (s *sender) Offered(context.Context, *session.Conversation) []model.Tool { return nil }

func (s *sender) Prepare(_ context.Context, _ *session.Conversation, call model.Item) session.Request {
	if call.Name == "conv.create" {
		return session.Create{ConversationID: childID, UserInstruction: &call.Arguments}
	}
	return session.Send{ConversationID: childID, Text: &call.Arguments}
}

func (s *sender) Run(context.Context, *session.Conversation, session.Call) (string, bool) {
	return "", false
}

// counted is a file that counts, and may leave out, syncs.
type counted struct {
	sessionlog.File
	syncs, bytes *int
	leaveOut     bool
}

func (c counted) Write(p []byte) (int, error) {
	*c.bytes += len(p)
	return c.File.Write(p)
}

func (c counted) Sync() error {
	*c.syncs++
	if c.leaveOut {
		return nil
	}
	return c.File.Sync()
}

// send runs a session of so many sends. Its history grows with each; so many are few.
func send(ctx context.Context, dir, id string, sends int, sync bool) (took []time.Duration, syncs, bytes int, err error) {
	s := &sender{left: sends + 1}
	e, err := engine.Start(dir, startSession(id), engine.Options{
		Model: func(context.Context, *session.Conversation) (model.Model, error) { return s, nil },
		Tools: s,
		File: func(f sessionlog.File) sessionlog.File {
			return counted{File: f, syncs: &syncs, bytes: &bytes, leaveOut: !sync}
		},
	})
	if err != nil {
		return nil, 0, 0, err
	}
	turn, err := e.Submit(ctx, session.Submit{Conversation: rootID, Input: []session.Part{{Text: "go"}}})
	if err == nil {
		_, err = turn.Wait(ctx)
	}
	return s.took, syncs, bytes, errors.Join(err, e.Close())
}

// sends measures what the engine takes for a call of conv.send, in turn with the bare writes and syncs.
func (b *builds) sends(ctx context.Context, t *table.Table, dir string) error {
	const sends = 20
	var synced, unsynced, bare measured
	perSend, n := 0, 0
	for range max(b.plan.writes/sends, 1) {
		n++
		took, syncs, bytes, err := send(ctx, dir, fmt.Sprintf("synced-%d", n), sends, true)
		if err != nil {
			return fmt.Errorf("sending: %w", err)
		}
		// The first call creates; before it and after the last one, the submission and the answer are written.
		synced.times = append(synced.times, took[1:]...)
		perSend = (syncs - 2) / (sends + 1)
		if took, _, _, err = send(ctx, dir, fmt.Sprintf("unsynced-%d", n), sends, false); err != nil {
			return fmt.Errorf("sending: %w", err)
		}
		unsynced.times = append(unsynced.times, took[1:]...)
		if took, err = bareSyncs(filepath.Join(dir, "bare"), sends, perSend, bytes/syncs); err != nil {
			return err
		}
		bare.times = append(bare.times, took...)
	}
	for _, m := range []*measured{&synced, &unsynced, &bare} {
		slices.Sort(m.times)
	}
	row, _ := compare("conv.send", fmt.Sprintf("%d writes with syncs", perSend), synced, bare)
	row.Bound = "at most " + milliseconds(sendSyncedBound) + " on top"
	row.Missed = synced.median()-bare.median() > sendSyncedBound
	row.Detail += fmt.Sprintf("; on top %s, of the medians %s", milliseconds(synced.min()-bare.min()), milliseconds(synced.median()-bare.median()))
	t.Add(row)
	row = table.Row{
		Name: "conv.send, without syncs", Result: microseconds(unsynced.median()), Bound: "at most " + microseconds(sendUnsyncedBound),
		Missed: unsynced.median() > sendUnsyncedBound, Detail: "min " + microseconds(unsynced.min()) + ", median as given",
	}
	t.Add(row)
	return nil
}

// bareSyncs appends to a file as often as the log of so many sends is written.
func bareSyncs(name string, sends, perSend, bytes int) (took []time.Duration, err error) {
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	line := make([]byte, bytes)
	for range sends {
		start := time.Now()
		for range perSend {
			if _, err := f.Write(line); err != nil {
				return nil, err
			}
			if err := f.Sync(); err != nil {
				return nil, err
			}
		}
		took = append(took, time.Since(start))
	}
	return took, nil
}

// sessionList measures the list of the sessions of a directory.
func (b *builds) sessionList(_ context.Context, t *table.Table, dir string) error {
	dir = filepath.Join(dir, "many")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for i := range b.plan.many {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("session-%d.jsonl", i)), []byte("{}\n"), 0o600); err != nil {
			return err
		}
	}
	return b.within(t, fmt.Sprintf("list of %d sessions", b.plan.many), sessionListBound, func() error {
		all, err := sessionlog.List(dir)
		if err == nil && len(all) != b.plan.many {
			err = fmt.Errorf("%d sessions are listed", len(all))
		}
		return err
	})
}

// manySessions measures the lists of many sessions that people and assistants see.
func (b *builds) manySessions(ctx context.Context, t *table.Table, dir string) error {
	h := &history{env: "XDG_DATA_HOME", home: filepath.Join(dir, "data"), project: dir}
	logs := filepath.Join(h.home, "convtools", "sessions")
	settings, err := json.Marshal(map[string]string{"dir": dir, "model": "m"})
	if err != nil {
		return err
	}
	start := startSession(rootID)
	start.Context.Settings = string(settings)
	s := &sender{left: 2}
	e, err := engine.Start(logs, start, engine.Options{
		Model: func(context.Context, *session.Conversation) (model.Model, error) { return s, nil },
		Tools: s,
	})
	if err != nil {
		return err
	}
	turn, err := e.Submit(ctx, session.Submit{Conversation: rootID, Input: []session.Part{{Text: "go"}}})
	if err == nil {
		_, err = turn.Wait(ctx)
	}
	if err = errors.Join(err, e.Close()); err != nil {
		return err
	}
	log, err := os.ReadFile(filepath.Join(logs, rootID+".jsonl"))
	if err != nil {
		return err
	}
	for i := range b.plan.many {
		if err := os.WriteFile(filepath.Join(logs, fmt.Sprintf("00000000-0000-4000-8000-%012x.jsonl", i)), log, 0o600); err != nil {
			return err
		}
	}
	programs := []program{
		b.asks(h, "conversation", "ls", "-F", "json"), b.asks(h, "session", "ls", "--limit", "0", "--json"),
	}
	for _, p := range programs {
		out, err := p.output(ctx, b.dataDir)
		if err != nil {
			return err
		}
		var all []struct{}
		if err := json.Unmarshal(out, &all); err != nil || len(all) < b.plan.many {
			return fmt.Errorf("%s lists %d sessions: %w", strings.Join(p.args, " "), len(all), err)
		}
	}
	results, err := inTurn(ctx, b.dataDir, b.plan.runs, programs...)
	if err != nil {
		return err
	}
	for i, name := range []string{"conversation ls", "session ls --limit 0"} {
		m := results[i]
		t.Add(table.Row{
			Name: fmt.Sprintf("%s of %d sessions", name, b.plan.many), Result: milliseconds(m.min()), Bound: "at most " + milliseconds(manyBound), Missed: m.min() > manyBound,
			Detail: "median " + milliseconds(m.median()) + "; CPU " + milliseconds(m.cpu),
		})
	}
	return nil
}

// within measures something that takes at most so long.
func (b *builds) within(t *table.Table, name string, bound time.Duration, f func() error) error {
	var m measured
	for range b.plan.runs {
		start := time.Now()
		if err := f(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		m.times = append(m.times, time.Since(start))
	}
	slices.Sort(m.times)
	t.Add(table.Row{
		Name: name, Result: milliseconds(m.min()), Bound: "at most " + milliseconds(bound), Missed: m.min() > bound, Detail: "median " + milliseconds(m.median()),
	})
	return nil
}

// steps writes the log of a session of which every step is known.
type steps struct {
	log   *sessionlog.Log
	state session.State
	at    time.Time
	bytes int
	syncs int
}

func newSteps(dir, id string) (*steps, error) {
	s := &steps{at: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}
	state, _, events, err := session.Step(s.state, s.at, startSession(id))
	if err != nil {
		return nil, err
	}
	s.state = state
	if s.log, err = sessionlog.Create(dir, events); err != nil {
		return nil, err
	}
	s.log.Through(func(f sessionlog.File) sessionlog.File {
		return counted{File: f, syncs: &s.syncs, bytes: &s.bytes, leaveOut: true}
	})
	return s, nil
}

func (s *steps) step(in session.Input) error {
	state, _, events, err := session.Step(s.state, s.at, in)
	if err != nil {
		return err
	}
	s.state, s.at = state, s.at.Add(time.Millisecond)
	return s.log.Append(events)
}

// conversationList measures conv.list in a session of many conversations.
func (b *builds) conversationList(_ context.Context, t *table.Table, dir string) error {
	s, err := newSteps(dir, "conversations")
	if err != nil {
		return err
	}
	text, task := "x", session.TaskID(1)
	if err := s.step(session.Submit{Conversation: rootID, Input: []session.Part{{Text: text}}}); err != nil {
		return err
	}
	const atOnce = 8
	for created := 0; created < b.plan.many; task++ {
		var r session.Response
		for i := range atOnce {
			created++
			r.Items = append(r.Items, session.ResponseItem{Call: &session.Call{ID: fmt.Sprint(i), Request: session.Create{
				ConversationID: fmt.Sprintf("00000000-0000-4000-8000-%012x", created), UserInstruction: &text,
			}}})
		}
		r.Task = task
		if err := s.step(r); err != nil {
			return err
		}
		for range atOnce {
			task++
			if err := s.step(session.Response{Task: task, Items: []session.ResponseItem{{Message: &text}}}); err != nil {
				return err
			}
		}
	}
	if err := s.log.Close(); err != nil {
		return err
	}
	return b.within(t, fmt.Sprintf("conv.list of %d conversations", b.plan.many), sessionListBound, func() error {
		if content, ok := s.state.Answer(rootID, session.List{}); !ok || len(content) < b.plan.many*100 {
			return errors.New("the list is short")
		}
		return nil
	})
}

// recovery measures how a long log is read when its session is opened again.
func (b *builds) recovery(_ context.Context, t *table.Table, dir string) error {
	s, err := newSteps(dir, "long")
	if err != nil {
		return err
	}
	output := strings.Repeat("\tfmt.Fprintln(w, \"the quick brown fox\", n)\n", 100)
	message := strings.Repeat("some words ", 30)
	for task := session.TaskID(1); int64(s.bytes) < b.plan.bytes/2; task++ {
		if err := s.step(session.Submit{Conversation: rootID, Input: []session.Part{{Text: message}}}); err != nil {
			return err
		}
		for range 8 {
			err := errors.Join(
				s.step(session.Response{Task: task, Items: []session.ResponseItem{
					{Raw: strings.Repeat("cmVhc29uaW5n", 80)},
					{Call: &session.Call{ID: "call", Name: "shell", Arguments: `{"command":"head main.go"}`, Request: session.Ordinary{Tool: "shell"}}},
				}}),
				s.step(session.ToolDone{Task: task, Call: "call", Content: output, Success: true}),
			)
			if err != nil {
				return err
			}
		}
		for range 30 {
			if err := s.step(session.Delta{Task: task, Text: message[:11]}); err != nil {
				return err
			}
		}
		if err := s.step(session.Response{Task: task, Items: []session.ResponseItem{{Message: &message}}}); err != nil {
			return err
		}
	}
	if err := s.log.Close(); err != nil {
		return err
	}
	var m measured
	for range b.plan.runs {
		start := time.Now()
		log, err := sessionlog.Open(dir, "long")
		if err != nil {
			return fmt.Errorf("recovering: %w", err)
		}
		m.times = append(m.times, time.Since(start))
		if err := log.Close(); err != nil {
			return err
		}
	}
	slices.Sort(m.times)
	speed := float64(s.bytes) / 1e6 / m.min().Seconds()
	t.Add(table.Row{
		Name: "recovery of a session of " + megabytes(int64(s.bytes)), Result: fmt.Sprintf("%.0f MB/s", speed), Bound: fmt.Sprintf("at least %d MB/s", recoveryBound), Missed: speed < recoveryBound,
		Detail: "min " + milliseconds(m.min()) + ", median " + milliseconds(m.median()),
	})
	return nil
}
