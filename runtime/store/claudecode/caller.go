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
	// toolUseKey is where it says which call of a tool it is, in the _meta of the call.
	toolUseKey = "claudecode/toolUseId"
	// maxToolUse is the longest id of a call that is looked for, in bytes.
	maxToolUse = 200
	// What is looked at for a call: it is recorded about when it is made, so that it
	// stands near the end of one of the transcripts that were written last.
	maxCallers = 64
	callerTail = 1 << 20
	// recordWait is how long a call is waited for that is not recorded yet, looking each
	// recordInterval. Of 2.1.328 calls arrive up to a tenth of a second before.
	recordWait     = 500 * time.Millisecond
	recordInterval = 25 * time.Millisecond
)

// Caller implements [store.Recognizer]. The session that the environment names is that
// of the call in a shell alone: a server gets another one with --continue, and keeps
// the old one when its user clears the conversation.
func (s *Store) Caller(ctx context.Context, from caller.Caller) (c store.Caller) {
	if use, ok := from.Meta[toolUseKey].(string); ok {
		return store.Caller{Evidence: store.ByCall, IDs: s.caller(ctx, use)}
	}
	c.Evidence = s.Evidence(from, from.Client == "claude-code", "CLAUDECODE")
	session := strings.ToLower(s.Getenv("CLAUDE_CODE_SESSION_ID"))
	if c.Evidence != store.NoEvidence && from.Process == caller.Shell && history.IsUUID(session) {
		c.IDs = []transcript.ID{id(session, "")}
	}
	return c
}

// caller returns the conversation with a call, and waits for it to be recorded. Behind that of a
// sub-agent it returns its session.
func (s *Store) caller(ctx context.Context, use string) []transcript.ID {
	if use == "" || len(use) > maxToolUse || !history.IsPlain(use) {
		return nil
	}
	searched := map[string]int64{} // sizes of transcripts that do not have it
	for range recordWait/recordInterval + 1 {
		if e := s.calling(ctx, use, searched); e != nil {
			return slices.Compact([]transcript.ID{id(e.session, e.agent), id(e.session, "")})
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(recordInterval):
		}
	}
	return nil
}

// calling returns the transcript with a call: the newest one where copies have the call too.
func (s *Store) calling(ctx context.Context, use string, searched map[string]int64) *entry {
	root, err := s.Store.Open()
	if err != nil {
		return nil
	}
	defer root.Close()
	all, _, _ := s.transcripts(root)
	for _, e := range all {
		e.Stamp = root.Stamp(e.File)
	}
	slices.SortStableFunc(all, func(a, b *entry) int { return cmp.Compare(b.Stamp.Modified(), a.Stamp.Modified()) })
	for _, e := range all[:min(len(all), maxCallers)] {
		if size, ok := searched[e.File]; ctx.Err() == nil && !(ok && size == e.Stamp.Size()) {
			if searched[e.File] = e.Stamp.Size(); e.calls(root, use) {
				return e
			}
		}
	}
	return nil
}

// calls reports whether a call of a tool is recorded near the end of a transcript. The session is
// that of the record where the name of the file has none.
func (e *entry) calls(root *history.Root, use string) bool {
	f, info, err := root.File(e.File)
	if err != nil {
		return false
	}
	defer f.Close()
	tail := make([]byte, min(info.Size(), callerTail))
	n, _ := f.ReadAt(tail, info.Size()-int64(len(tail))) // as much as there is
	for line := range bytes.SplitSeq(tail[:n], []byte("\n")) {
		if !bytes.Contains(line, []byte(strconv.Quote(use))) {
			continue
		}
		// What is quoted from another transcript has the id too.
		r, whole := parse(line)
		told, _ := r.events()
		if whole && slices.ContainsFunc(told, func(e transcript.Event) bool { return e.Kind == transcript.KindToolCall && e.CallID == use }) {
			e.session = cmp.Or(e.session, strings.ToLower(jsontext.String(r.Session)))
			return history.IsUUID(e.session)
		}
	}
	return false
}
