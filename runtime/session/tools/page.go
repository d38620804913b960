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

// page returns the page that shows the sessions of a project.
func (f *family) page() toolset.Page {
	return toolset.Page{
		Name: "sessions", Title: "Running", Show: f.sessionItems, Version: f.sessionsVersion,
		Empty: "Nothing has run in this project. An assistant begins a conversation of its own with conv.create, and you begin one with: " + f.host.Name + " query",
	}
}

const maxSessions, maxActivity = 12, 400 // the sessions on the page, and the characters of what a conversation says

// sessionItems returns an item for each of the last used sessions of a project: its conversations as a tree, or an error.
func (f *family) sessionItems(ctx context.Context, where contract.Context) (items []toolset.Item, err error) {
	p, _, err := f.project(cmp.Or(where.Dir, f.host.Dir))
	if p == nil {
		return nil, err
	}
	all, err := log.List(p.Logs)
	if err != nil {
		return nil, err
	}
	for _, info := range all {
		if len(items) == maxSessions || ctx.Err() != nil {
			break
		}
		summary, summaryErr := log.Summarize(p.Logs, info.Session)
		root := SettingsOf(summary.Context).Root
		isReadable, isOfProject := summaryErr == nil, root != "" && root == p.Settings.Root
		if isReadable && !isOfProject { // an unreadable log, whose project is not known, has an item in every project
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

// sessionsVersion returns a text that changes with every record of the sessions last used, or with an error.
func (f *family) sessionsVersion(_ context.Context, where contract.Context) string {
	p, _, err := f.project(cmp.Or(where.Dir, f.host.Dir))
	if p == nil { // with a project, err says that there is no model, which the page does not need
		return err.Error()
	}
	var b strings.Builder
	all, err := log.List(p.Logs)
	for _, info := range all[:min(len(all), maxSessions)] { // all is nil after an error
		fmt.Fprint(&b, info.Session, info.Bytes, " ")
	}
	return b.String() + fmt.Sprint(err)
}

// itemOf returns the item that shows a conversation and those below it.
func itemOf(s session.State, c *session.Conversation) toolset.Item {
	item := toolset.Item{Title: cmp.Or(TitleOf(c), c.ID), State: StateOf(s, c), Status: toolset.Off}
	if item.State == "running" || item.State == "waiting" {
		item.Status = toolset.OK
		for last := range c.Latest() {
			item.Text = activityOf(last.Item)
			break // the newest entry is enough
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

// activityOf returns what a conversation with this last item is doing, for people.
func activityOf(item session.Item) string {
	switch item.Kind {
	case session.ToolCall:
		return "calls " + item.Name + " " + text.Cut(item.Arguments, maxActivity)
	case session.ToolOutput:
		return "has the result of " + item.Name
	}
	return text.Cut(textOfParts(item.Parts), maxActivity)
}

// StateOf returns the state of a conversation for people: "running", "waiting", "idle" or "destroyed".
func StateOf(s session.State, c *session.Conversation) string {
	if c.Destroyed {
		return "destroyed"
	}
	doing := s.Doing(c.ID)
	words := map[string]string{"suspended": "waiting", "queued": "idle"}
	return cmp.Or(words[doing], doing)
}
