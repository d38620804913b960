package main

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
)

// What is said in the sessions of an agent.
const (
	marker   = "zanderfall"
	told     = "Remember that the zanderfall gauge is read every seven minutes."
	agreed   = "The zanderfall gauge is read every seven minutes, noted."
	asked    = "How often did we say that the zanderfall gauge is read?"
	askAgain = "And once more, what was it with zanderfall?"
	found    = "Every seven minutes, as was said."
)

// history returns a step in which an agent finds what was said in one of its own
// sessions. It has three: in the first something is agreed on, in the second that is
// asked for, and the third goes on with the second one. In both the agent searches for
// a word that its own session has too, and must be shown the first session alone.
func history(a agent) func(context.Context, *lab) ([]string, error) {
	return func(ctx context.Context, l *lab) (notes []string, err error) {
		h := &historian{agent: a, lab: l, model: &model{protocol: a.protocol}}
		if h.home, err = l.home(); err != nil {
			return nil, err
		}
		if h.project, err = l.project(); err != nil {
			return nil, err
		}
		modelURL, closeModel, err := h.model.listen(ctx)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, closeModel()) }()
		if err := a.configure(h.home, modelURL, ""); err != nil {
			return nil, fmt.Errorf("configuring the agent: %w", err)
		}
		if err := a.install(ctx, l, h.home, h.project); err != nil {
			return nil, err
		}
		if _, err := h.session(ctx, "tell", told, false, agreed, nil); err != nil {
			return nil, fmt.Errorf("telling: %w", err)
		}
		var id string
		for _, s := range []struct {
			name, question string
			again          bool
		}{{"ask", asked, false}, {"again", askAgain, true}} {
			shown, err := h.session(ctx, s.name, s.question, s.again, found, h.searching())
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
			first, err := checkFound(shown)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
			if id != "" && first != id {
				return nil, fmt.Errorf("%s: the model was shown %s, and before that %s", s.name, first, id)
			}
			id = first
		}
		return nil, nil
	}
}

// historian is an agent in a project of its own.
type historian struct {
	agent
	lab           *lab
	model         *model
	home, project string
}

// project makes an empty directory for an agent to work in.
func (l *lab) project() (string, error) {
	dir, err := os.MkdirTemp(filepath.Join(l.dir, "data"), "project-")
	if err != nil {
		return "", fmt.Errorf("making a project: %w", err)
	}
	return dir, nil
}

// next returns the call that follows on the answers of those before, in this session.
type next func(results []result) (c call, more bool, err error)

// searching returns a search for the marker, and a read of what it finds.
func (h *historian) searching() next {
	return func(results []result) (call, bool, error) {
		switch len(results) {
		case 0:
			return call{"conversation_grep", map[string]any{"pattern": marker}}, true, nil
		case 1:
			id, number, err := lastEvent(h.unwrap(results[0].Text))
			return call{"conversation_read", map[string]any{"id": id, "event": number}}, true, err
		default:
			return call{}, false, nil
		}
	}
}

// session runs the agent for one question, to which the model says an answer after its
// calls. It returns what the model was shown of them.
func (h *historian) session(ctx context.Context, name, question string, again bool, answer string, calls next) ([]result, error) {
	before := -1 // results of earlier sessions, which one that goes on has too
	var results []result
	made := 0
	h.model.script = func(_ context.Context, e exchange) (reply, error) {
		if len(e.Tools) == 0 {
			return reply{text: "Gauges"}, nil // agents also have a title made for the session
		}
		if before < 0 {
			before = len(e.Results)
		}
		results = slices.Clone(e.Results[min(before, len(e.Results)):])
		if calls == nil {
			return reply{text: answer}, nil
		}
		c, more, err := calls(results)
		if err != nil || !more {
			return reply{text: answer}, err
		}
		tool, ok := h.named(e.Tools, offered(c.Tool))
		if !ok {
			return reply{}, fmt.Errorf("the agent does not offer %s", c.Tool)
		}
		arguments, err := json.Marshal(c.Arguments)
		if err != nil {
			return reply{}, fmt.Errorf("writing the arguments of %s: %w", c.Tool, err)
		}
		made++
		return reply{tool: tool, callID: fmt.Sprintf("call_%s_%d", name, made), arguments: string(arguments)}, nil
	}
	command := h.recorded(h.lab, question, again)
	command.Dir, command.Limits.Timeout = h.project, time.Hour
	command.Env = h.lab.env(h.home, command.Env...)
	output, err := runOK(ctx, command)
	if err := errors.Join(h.model.err(), err); err != nil {
		return nil, err
	}
	if !strings.Contains(string(output), answer) {
		return nil, fmt.Errorf("the agent did not pass on what the model said:\n%s", text.Visible(text.CutMiddle(string(output), 2000)))
	}
	for i := range results {
		results[i].Text = h.unwrap(results[i].Text)
	}
	return results, nil
}

// checkFound checks what the model was shown of a search and of a read, and returns the
// conversation that was found.
func checkFound(shown []result) (id string, err error) {
	if len(shown) != 2 {
		return "", fmt.Errorf("the model was shown %d answers, want 2", len(shown))
	}
	var grep struct {
		Conversations []struct {
			ID string `xml:"id,attr"`
		} `xml:"conversation"`
		Notes []string `xml:"note"`
	}
	if err := xml.Unmarshal([]byte(shown[0].Text), &grep); err != nil {
		return "", fmt.Errorf("reading the answer of conversation_grep: %w\n%.500s", err, shown[0].Text)
	}
	// A program may begin to record its session after the call: then there is nothing to leave out.
	if len(grep.Conversations) != 1 || strings.Contains(shown[0].Text, "cannot be told") {
		return "", fmt.Errorf("the model was not shown the first session alone, or its own one is not known:\n%.2000s", shown[0].Text)
	}
	if !strings.Contains(shown[1].Text, agreed) && !strings.Contains(shown[1].Text, told) {
		return "", fmt.Errorf("the model did not read what was said:\n%.2000s", shown[1].Text)
	}
	for _, question := range []string{asked, askAgain} {
		if strings.Contains(shown[0].Text+shown[1].Text, question) {
			return "", fmt.Errorf("the model was shown its own session:\n%.2000s\n%.2000s", shown[0].Text, shown[1].Text)
		}
	}
	return grep.Conversations[0].ID, nil
}
