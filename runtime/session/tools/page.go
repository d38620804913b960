package tools

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/session/log"
	"github.com/convtools/convtools/runtime/toolset"
)

// page returns the page of the project's sessions. It is live.
func (f *family) page() toolset.Page {
	return toolset.Page{
		Name: "sessions", Title: "Running", Show: f.shown, Version: f.shownVersion,
		Empty: "Nothing has run in this project. An assistant begins a conversation of its own with conv.create, and you begin one with: " + f.host.Name + " query",
	}
}

// Limits of the page.
const (
	shownSessions = 12
	shownDoing    = 400 // characters of what a conversation says
)

// shown returns the sessions of a project, the last used first, each with its conversations as a tree.
func (f *family) shown(ctx context.Context, where contract.Context) (items []toolset.Item, err error) {
	p, _, err := f.project(cmp.Or(where.Dir, f.host.Dir))
	if p == nil {
		return nil, err
	}
	all, err := log.List(p.Logs)
	if err != nil {
		return nil, err
	}
	for _, info := range all {
		if len(items) == shownSessions || ctx.Err() != nil {
			break
		}
		summary, err := log.Summarize(p.Logs, info.Session)
		if settings := SettingsOf(summary.Context); err == nil && (settings.Root == "" || settings.Root != p.Settings.Root) {
			continue
		}
		state, _, err := log.Load(p.Logs, info.Session)
		if err != nil {
			items = append(items, toolset.Item{Title: info.Session, State: "cannot be read", Status: toolset.Problem, Text: err.Error()})
			continue
		}
		items = append(items, itemOf(state, state.Root()))
	}
	return items, ctx.Err()
}

// shownVersion returns a value that changes with every record of a session.
func (f *family) shownVersion(_ context.Context, where contract.Context) string {
	p, _, err := f.project(cmp.Or(where.Dir, f.host.Dir))
	if p == nil {
		return err.Error()
	}
	var b strings.Builder
	all, err := log.List(p.Logs)
	for _, info := range all[:min(len(all), shownSessions)] {
		fmt.Fprint(&b, info.Session, info.Bytes, " ")
	}
	return b.String() + fmt.Sprint(err)
}

// itemOf returns a conversation and those below it for people.
func itemOf(s session.State, c *session.Conversation) toolset.Item {
	item := toolset.Item{Title: cmp.Or(TitleOf(c), c.ID), State: StateOf(s, c), Status: toolset.Off}
	if item.State == "running" || item.State == "waiting" {
		item.Status = toolset.OK
		for last := range c.Latest() {
			item.Text = doing(last.Item)
			break
		}
	}
	item.Facts = []string{
		text.Count(c.Messages, "message", "messages"),
		text.Number(int(c.Usage.InputTokens)) + " tokens in, " + text.Number(int(c.Usage.OutputTokens)) + " out",
		c.LastActive.Local().Format("2 Jan 15:04"),
	}
	for child := range s.Conversations() {
		if child.Parent == c.ID {
			item.Below = append(item.Below, itemOf(s, child))
		}
	}
	return item
}

// doing returns what the last item of a conversation says.
func doing(item session.Item) string {
	switch item.Kind {
	case session.ToolCall:
		return "calls " + item.Name + " " + text.Cut(item.Arguments, shownDoing)
	case session.ToolOutput:
		return "has the result of " + item.Name
	}
	return text.Cut(textOfParts(item.Parts), shownDoing)
}

// StateOf returns the state of a conversation in words for people.
func StateOf(s session.State, c *session.Conversation) string {
	if c.Destroyed {
		return "destroyed"
	}
	doing := s.Doing(c.ID)
	words := map[string]string{"suspended": "waiting", "queued": "idle"}
	return cmp.Or(words[doing], doing)
}
