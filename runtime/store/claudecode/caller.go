package claudecode

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/caller"
	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/transcript"
)

const (
	// clientName is what Claude Code calls itself to an MCP server.
	clientName = "claude-code"
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
	// maxProcessFile bounds the file about a process, in bytes.
	maxProcessFile = 64 << 10
)

// Caller implements [store.Recognizer]. The session that the environment names is that
// of the call in a shell alone: a server gets another one with --continue, and keeps
// the old one when its user clears the conversation.
func (s *Store) Caller(ctx context.Context, from caller.Caller) store.Caller {
	if use, ok := from.Meta[toolUseKey].(string); ok {
		return store.Caller{Evidence: store.ByCall, IDs: s.caller(ctx, use, from)}
	}
	if from.Client != "" && from.Client != clientName {
		return store.Caller{}
	}
	c := store.Caller{}
	if from.Client != "" {
		c.Evidence = store.ByCall
	} else if from.Process != caller.Foreign && s.Getenv("CLAUDECODE") != "" {
		c.Evidence = store.ByEnvironment
	}
	switch {
	case c.Evidence == store.NoEvidence:
	case from.Process == caller.Server:
		c.IDs = s.process(from.ParentPID)
	case from.Process == caller.Shell:
		if session := strings.ToLower(s.Getenv("CLAUDE_CODE_SESSION_ID")); history.IsUUID(session) {
			c.IDs = []transcript.ID{id(session, "")}
		}
	}
	return c
}

// caller returns the conversation with a call. That is recorded about when it is made:
// where it is not there yet, the process that makes it has noted its session, and else
// it is waited for.
func (s *Store) caller(ctx context.Context, use string, from caller.Caller) []transcript.ID {
	searched := map[string]int64{}
	ids := s.calling(ctx, use, searched)
	if len(ids) == 0 && from.Process == caller.Server {
		ids = s.process(from.ParentPID)
	}
	for range recordWait / recordInterval {
		if len(ids) > 0 || !isCallID(use) {
			break
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(recordInterval):
			ids = s.calling(ctx, use, searched)
		}
	}
	return ids
}

// calling returns the conversation with a call, and behind that of a sub-agent its
// session. It is the newest one where copies have the call too. searched has the sizes
// of transcripts that do not have it.
func (s *Store) calling(ctx context.Context, use string, searched map[string]int64) []transcript.ID {
	if !isCallID(use) {
		return nil
	}
	files, err := s.open()
	if err != nil {
		return nil
	}
	defer files.Close()
	var tail []byte
	for _, d := range files.newest(maxCallers) {
		if ctx.Err() != nil {
			return nil
		}
		e := d.entry
		if size, ok := searched[e.file]; ok && size == d.size {
			continue
		}
		var called string
		var ok bool
		if tail, called, ok = files.calls(e, use, tail); !ok {
			searched[e.file] = d.size
			continue
		}
		session := cmp.Or(e.session, strings.ToLower(called))
		if !history.IsUUID(session) {
			return nil
		}
		ids := []transcript.ID{id(session, e.agent)}
		if e.agent != "" {
			ids = append(ids, id(session, ""))
		}
		return ids
	}
	return nil
}

// dated is a transcript, with when it was last written and its size then.
type dated struct {
	*entry
	at   time.Time
	size int64
}

// newest returns the transcripts of the project that were written last, the last one
// first.
func (s *session) newest(most int) []dated {
	folders, err := s.folders()
	if err != nil {
		return nil
	}
	var all []dated
	for _, folder := range folders {
		found, err := s.transcripts(folder)
		if err != nil {
			continue
		}
		for _, e := range found {
			if info, err := s.Stat(e.file); err == nil && info.Mode().IsRegular() {
				all = append(all, dated{e, info.ModTime(), info.Size()})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b dated) int { return b.at.Compare(a.at) })
	return all[:min(len(all), most)]
}

// calls reports whether a call of a tool is recorded near the end of a transcript, and
// the session that its record names. It reads into a buffer, which it returns for the
// next one.
func (s *session) calls(e *entry, use string, buffer []byte) (tail []byte, session string, ok bool) {
	f, info, err := safefile.OpenIn(s.Root.Root, e.file)
	if err != nil {
		return buffer, "", false
	}
	defer f.Close()
	start := max(0, info.Size()-callerTail)
	tail = slices.Grow(buffer[:0], int(info.Size()-start))[:info.Size()-start]
	n, err := f.ReadAt(tail, start)
	if err != nil && err != io.EOF {
		return tail, "", false
	}
	quoted := []byte(strconv.Quote(use))
	for line := range bytes.SplitSeq(tail[:n], []byte("\n")) {
		if !bytes.Contains(line, quoted) {
			continue
		}
		// What is quoted from another transcript has the id too.
		if r, whole := parse(line); whole && r.is("assistant") && r.hasCall(use) {
			return tail, string(r.session), true
		}
	}
	return tail, "", false
}

// hasCall reports whether the assistant makes a call with an id.
func (r *record) hasCall(use string) bool {
	found := false
	content, _ := r.content()
	blocks(content, func(b *block) bool {
		found = b.is("tool_use") && string(b.id) == use
		return !found
	})
	return found
}

// isCallID reports whether a text can be the id of a call: letters, digits, '_' and '-',
// which stand in JSON as they are.
func isCallID(s string) bool {
	return s != "" && len(s) <= maxToolUse && history.IsPlain(s)
}

// process returns the session of a process, as that has noted it. What a process of
// the same number left behind when it was killed does not count: where the system
// does not tell when the process began, nothing is known.
func (s *Store) process(pid int) []transcript.ID {
	began, ok := processStart(pid)
	if !ok {
		return nil
	}
	root, err := safefile.OpenDir(filepath.Dir(s.Dir))
	if err != nil {
		return nil
	}
	defer root.Close()
	data, err := safefile.ReadIn(root, fmt.Sprintf("sessions/%d.json", pid), maxProcessFile)
	if err != nil {
		return nil
	}
	var noted struct {
		PID       int    `json:"pid"`
		Session   string `json:"sessionId"`
		ProcStart string `json:"procStart"`
	}
	if err := json.Unmarshal(data, &noted); err != nil || noted.PID != pid || noted.ProcStart != began {
		return nil
	}
	session := strings.ToLower(noted.Session)
	if !history.IsUUID(session) {
		return nil
	}
	return []transcript.ID{id(session, "")}
}

// processStart returns when a process began, in the ticks of Linux since the system
// did: the 22nd field in its stat file, see proc(5). Other systems have no such file.
func processStart(pid int) (string, bool) {
	stat, err := safefile.Read(fmt.Sprintf("/proc/%d/stat", pid), maxProcessFile)
	if pid <= 0 || err != nil {
		return "", false
	}
	// The second field is a name in parentheses, which may have any character.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const start = 22 - 3 // the fields begin with the third
	if len(fields) <= start {
		return "", false
	}
	return fields[start], true
}
