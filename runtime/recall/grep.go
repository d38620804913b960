package recall

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/contract"
)

// maxLine bounds the text of one hit, in characters. The command line has cut a
// long line to a window around its match already; this holds where another
// program serves it.
const maxLine = 410

type grepRecord struct {
	conversation.GrepHit
	Title string `json:"title"`
	Event *int   `json:"event"`
	Line  *int   `json:"line"`
}

type grepSummary struct {
	Matches       *int `json:"matches"`
	Searched      *int `json:"searched"`
	Matched       *int `json:"conversations_matched"`
	Conversations []struct {
		ID      string `json:"id"`
		Matches int    `json:"matches"`
		Turns   int    `json:"turns"`
	} `json:"conversations"`
	Excluded []string  `json:"excluded"`
	Skipped  []skipped `json:"skipped"`
}

// Grep answers conversation_grep.
func (t *Tools) Grep(ctx context.Context, call contract.Call, p conversation.GrepParams) (*conversation.GrepEnvelope, error) {
	var summary grepSummary
	var hits []grepRecord
	err := t.run(ctx, call, conversation.GrepCLI, conversation.GrepArgs(p, call.Context), conversation.GrepExitOK, &summary, func(raw json.RawMessage) error {
		var r grepRecord
		if err := json.Unmarshal(raw, &r); err != nil {
			return err
		}
		if n := utf8.RuneCountInString(r.Text); n > maxLine {
			r.Text = clip(r.Text, maxLine)
			r.Chars = max(r.Chars, n)
		}
		r.Title = clip(r.Title, maxTitle)
		hits = append(hits, r)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return fit(len(hits), conversation.GrepMaxChars, func(n int) *conversation.GrepEnvelope {
		return grepEnvelope(call, p, &summary, hits[:n], hits)
	}), nil
}

// grepEnvelope groups the hits that are shown; all are those that were found.
func grepEnvelope(call contract.Call, p conversation.GrepParams, summary *grepSummary, shown, all []grepRecord) *conversation.GrepEnvelope {
	var e conversation.GrepEnvelope
	// Context behind the last match that is shown stays; context before a match
	// that is not shown would mislead.
	for len(shown) < len(all) && len(shown) > 0 && !shown[len(shown)-1].IsMatch {
		shown = shown[:len(shown)-1]
	}
	for i := range shown {
		h := &shown[i]
		if i == 0 || h.ID != shown[i-1].ID {
			e.Conversations = append(e.Conversations, group(summary, h, all))
		} else if p.Context > 0 && !adjacent(&shown[i-1], h) {
			h.GapBefore = true
		}
		c := &e.Conversations[len(e.Conversations)-1]
		c.Hits = append(c.Hits, h.GrepHit)
		if h.IsMatch {
			e.Returned++
		}
	}
	found := 0
	ids := map[string]bool{}
	for i := range all {
		ids[all[i].ID] = true
		if all[i].IsMatch {
			found++
		}
	}
	e.Matches = valueOr(summary.Matches, found)
	e.ConversationCount = valueOr(summary.Matched, len(ids))
	e.Searched = valueOr(summary.Searched, e.ConversationCount)
	e.Truncated = e.Returned < e.Matches
	e.Notes = append(append(e.Notes, call.Notes...), grepNotes(p, &e, summary)...)
	return &e
}

func group(summary *grepSummary, h *grepRecord, all []grepRecord) conversation.GrepConversation {
	c := conversation.GrepConversation{ID: h.ID, Title: h.Title}
	for _, s := range summary.Conversations {
		if s.ID == h.ID {
			c.Matches, c.Turns = s.Matches, s.Turns
			return c
		}
	}
	for i := range all {
		if all[i].ID == h.ID && all[i].IsMatch {
			c.Matches++
			c.Turns = max(c.Turns, all[i].Turn)
		}
	}
	return c
}

// adjacent says that b is the line behind a.
func adjacent(a, b *grepRecord) bool {
	if a.Event == nil || b.Event == nil || a.Line == nil || b.Line == nil {
		return a.Turn == b.Turn && a.Scope == b.Scope && a.Timestamp.Equal(b.Timestamp)
	}
	return *a.Event == *b.Event && *a.Line+1 == *b.Line
}

func valueOr(p *int, otherwise int) int {
	if p == nil {
		return otherwise
	}
	return *p
}

func grepNotes(p conversation.GrepParams, e *conversation.GrepEnvelope, summary *grepSummary) []string {
	var notes []string
	switch {
	case e.Matches == 0:
		notes = append(notes, nothingFound(p, e.Searched))
	case e.Truncated:
		narrower := []string{"a longer pattern"}
		if len(p.IDs) == 0 {
			narrower = append(narrower, "ids=[…]")
		}
		if len(p.Scopes) == 0 {
			narrower = append(narrower, `scopes=["chat"]`)
		}
		read := "read a hit with conversation_read(id, turn)."
		note := fmt.Sprintf("Showing %d of %d matches, newest conversations first.", e.Returned, e.Matches)
		if e.Returned >= p.Limit && p.Limit < conversation.GrepLimitMaximum {
			note += fmt.Sprintf(" limit=%d shows more.", min(e.Matches, conversation.GrepLimitMaximum))
		}
		if e.Returned < p.Limit && e.Returned < e.Matches {
			note = fmt.Sprintf("Showing %d of %d matches, newest conversations first: no more fit into %d characters.", e.Returned, e.Matches, conversation.GrepMaxChars)
		}
		notes = append(notes, note+" Narrow with "+join(narrower, "or")+"; "+read)
	}
	for _, id := range summary.Excluded {
		notes = append(notes, "The current conversation, "+id+", was left out; include_current=true searches it too.")
	}
	return append(notes, skippedNote(summary.Skipped)...)
}

func nothingFound(p conversation.GrepParams, searched int) string {
	how := "in any case"
	if !p.IgnoreCase {
		how = "in exactly this case"
	}
	where := "all scopes"
	if len(p.Scopes) > 0 {
		where = "scopes=" + list(p.Scopes)
	}
	note := fmt.Sprintf("No line contains %s, %s, in %s of %d %s.", quoted(p.Pattern), how, where, searched, conversations(searched))
	var ideas []string
	if strings.ContainsAny(strings.TrimSpace(p.Pattern), " \t") {
		ideas = append(ideas, "a single word of it")
	} else {
		ideas = append(ideas, "a shorter or different word")
	}
	if !p.IgnoreCase {
		ideas = append(ideas, "ignore_case=true")
	}
	if len(p.Scopes) > 0 {
		ideas = append(ideas, "no scopes")
	}
	if len(p.IDs) > 0 {
		ideas = append(ideas, "no ids")
	} else {
		ideas = append(ideas, "archived conversations by naming them in ids (conversation_list with archived=true)")
	}
	return note + " Try " + join(ideas, "or") + "."
}

func conversations(n int) string {
	if n == 1 {
		return "conversation"
	}
	return "conversations"
}

// join writes "a, b or c".
func join(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " " + last + " " + words[len(words)-1]
}
