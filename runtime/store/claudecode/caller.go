package claudecode

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/caller"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

const (
	toolUseKey = "claudecode/toolUseId" // the key of the id of a tool call in the _meta of the call
	maxToolUse = 200                    // the longest id of a call that is looked for, in bytes
	// A call is recorded at about the time it is made: near the end of a transcript that was written last.
	maxCallers = 16
	callerTail = 1 << 20 // bytes
	// A call of 2.1.328 arrives up to a tenth of a second before it is recorded.
	recordWait     = 500 * time.Millisecond
	recordInterval = 25 * time.Millisecond
)

// Caller implements [store.Recognizer]. The id of the tool call, which Claude Code sends to servers, leads to the session
// that has recorded the call. The session in the environment is used only for a call from a shell. The environment of a
// server does not change when the user continues an old session or clears the conversation, and then names a wrong session.
func (s *Store) Caller(ctx context.Context, from caller.Caller) (c store.Caller) {
	if useID, ok := from.Meta[toolUseKey].(string); ok { // the id of the tool call
		return store.Caller{Evidence: store.ByCall, IDs: s.callerOf(ctx, useID)}
	}
	c.Evidence = s.Evidence(from, from.Client == "claude-code", "CLAUDECODE")
	session := strings.ToLower(s.Getenv("CLAUDE_CODE_SESSION_ID"))
	if c.Evidence != store.NoEvidence && from.Process == caller.Shell && history.IsUUID(session) {
		c.IDs = []transcript.ID{s.ID(session, "")}
	}
	return c
}

// callerOf returns the conversation that made the call with an id; for a sub-agent also the session that it belongs
// to. It waits until the call is recorded, at most recordWait, and returns nil if the call is not recorded by then.
func (s *Store) callerOf(ctx context.Context, useID string) []transcript.ID {
	if useID == "" || len(useID) > maxToolUse || !history.IsPlain(useID) {
		return nil
	}
	for range recordWait/recordInterval + 1 { // tries, with a wait after each
		if e := s.transcriptWith(ctx, useID); e != nil {
			return slices.Compact([]transcript.ID{s.ID(e.session, e.agent), s.ID(e.session, "")})
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(recordInterval):
		}
	}
	return nil
}

// transcriptWith returns the transcript that has the call with an id near its end, or nil. If several have the call,
// since records were copied, it returns the transcript that was written last.
func (s *Store) transcriptWith(ctx context.Context, useID string) *entry {
	root, err := s.Store.Open()
	if err != nil {
		return nil
	}
	defer root.Close()
	all, _ := s.transcripts(root)
	for _, e := range all {
		e.Stamp = root.Stamp(e.File)
	}
	slices.SortStableFunc(all, func(a, b *entry) int { return cmp.Compare(b.Stamp.Modified(), a.Stamp.Modified()) })
	for _, e := range all[:min(len(all), maxCallers)] {
		if ctx.Err() == nil && e.hasCall(root, useID) {
			return e
		}
	}
	return nil
}

// hasCall reports whether the end of the transcript has the record of a tool call, and the session is known. If the
// name of the file did not tell the session (e.session is ""), hasCall sets e.session to the one in the record.
func (e *entry) hasCall(root *history.Root, useID string) bool {
	f, size, err := root.File(e.File)
	if err != nil {
		return false
	}
	defer f.Close()
	tail := make([]byte, min(size, callerTail))
	n, _ := f.ReadAt(tail, size-int64(len(tail))) // the file may have been cut
	for line := range bytes.SplitSeq(tail[:n], []byte("\n")) {
		if !bytes.Contains(line, []byte(strconv.Quote(useID))) {
			continue
		}
		r, whole := jsontext.Parse[record](line)
		events, _ := r.events()
		// The id can also be in a text that quotes a transcript.
		isCall := func(e transcript.Event) bool { return e.Kind == transcript.KindToolCall && e.CallID == useID }
		if whole && slices.ContainsFunc(events, isCall) {
			e.session = cmp.Or(e.session, strings.ToLower(jsontext.String(r.Session)))
			return history.IsUUID(e.session)
		}
	}
	return false
}
