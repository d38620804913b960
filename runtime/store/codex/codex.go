// Package codex reads the conversations that the Codex CLI recorded for a project: threads and those of their
// sub-agents, from the rollouts in its home directory.
//
// It never creates, changes or locks a file, opens only regular files below the home directory, and no database:
// they are made of rollouts. Only the two directories of rollouts can be links to other places, because users
// move what is large. A thread belongs to a project by the working directory that is recorded in it.
package codex

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/caller"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/filecache"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// Name is the name of this kind of store.
const Name = "codex"

// Store has the conversations of a project. It implements [store.Store].
type Store struct{ history.Store }

// Open returns the store, and false if Codex has recorded nothing.
func Open(o store.Options) (*Store, bool) {
	s, ok := history.Open(o, Name, Home(o.Env()), "", IDs())
	s.Moved = []string{sessionsDir, archiveDir}
	return &Store{s}, ok && slices.ContainsFunc(s.Moved, func(dir string) bool { return store.IsThere(filepath.Join(s.Dir, dir)) })
}

// Home returns the home directory of Codex, or "" if the environment does not name it.
func Home(getenv func(string) string) string {
	return cmp.Or(getenv("CODEX_HOME"), history.InHome(getenv, ".codex"))
}

// IDs returns the form of ids: the uuid of a thread. A bare uuid is valid if it is of version 7.
func IDs() *history.IDs {
	return &history.IDs{Prefix: "codex-", Bare: history.IsTimed, Example: "codex-01a1ffd7-7b57-7ca0-9fa0-3b693e56b89f"}
}

const (
	sessionsDir  = "sessions"
	archiveDir   = "archived_sessions"
	indexFile    = "session_index.jsonl"
	compressed   = ".zst"
	maxIndexSize = 16 << 20 // bytes of indexFile
)

// rollout is a file of a thread. A thread that was reverted has several segments: the last one counts.
type rollout struct {
	history.Entry[metadata]
	thread     string // uuid
	segment    string // uuid; empty for the first one
	archived   bool
	compressed bool
	duplicates []string // files of the same segment

	base     *rollout // it goes on from records of this rollout; nil for none
	original *rollout // it can begin with a copy of this rollout; nil for none
}

// nameForm is the form of the name of a rollout: a time, the thread, and a segment.
const nameForm = `^rollout-.{19}-(` + history.UUID + `)(?:_(` + history.UUID + `))?\.jsonl(\.zst)?$`

// rollouts returns the files of all threads, and problems for the directories that cannot be read. A thread, which is a
// conversation, has one or more segments: live segments come before archived ones, and later ones before earlier ones.
// Of several files of a segment rollouts keeps one: a live file rather than an archived one, then a plain file rather than
// a compressed one, then the last by name. It notes files that differ from the kept one only in their name as duplicates.
func (s *Store) rollouts(root *history.Root) (all []*rollout, problems []store.Problem) {
	form := regexp.MustCompile(nameForm)
	for _, dir := range s.Moved {
		files, unread := s.Walk(root, dir, func(below string) bool {
			isNumber := strings.Trim(path.Base(below), "0123456789") == ""
			return dir == sessionsDir && isNumber && strings.Count(below, "/") <= 3 // sessions/YEAR/MONTH/DAY
		})
		problems = append(problems, unread...)
		for _, file := range files {
			if match := form.FindStringSubmatch(strings.ToLower(path.Base(file))); match != nil {
				r := &rollout{thread: match[1], segment: match[2], archived: dir == archiveDir, compressed: match[3] != ""}
				r.File, r.ID = file, s.ID(r.thread, "")
				all = append(all, r)
			}
		}
	}
	slices.SortFunc(all, func(a, b *rollout) int {
		return cmp.Or(
			strings.Compare(a.thread, b.thread), history.CompareBool(a.archived, b.archived), strings.Compare(b.segment, a.segment),
			history.CompareBool(a.compressed, b.compressed), strings.Compare(b.File, a.File),
		)
	})
	segments := map[string]*rollout{} // the preferred file of each segment, which is its first in the order
	return slices.DeleteFunc(all, func(r *rollout) bool {
		preferred := segments[r.thread+r.segment]
		if preferred == nil {
			segments[r.thread+r.segment] = r
		} else if r.archived == preferred.archived && r.compressed == preferred.compressed {
			preferred.duplicates = append(preferred.duplicates, r.File)
		}
		return preferred != nil
	}), problems
}

// List implements [store.Store]. A thread, which is a conversation, has one or more files: the last stands for the thread.
func (s *Store) List(ctx context.Context, scope store.Scope) (*store.Listing, error) {
	return history.List(ctx, &s.Store, scope, s.rollouts, func(root *history.Root, all []*rollout, l *store.Listing) error {
		threads := link(all)
		names := threadNames(root)
		for _, r := range all {
			h := &r.Meta.Header
			isOfThread := h.Thread == r.thread // the file's first record names the same thread as the file's name
			if r.Meta.Begun && !isOfThread {
				err := errors.New("it does not begin with what this thread is")
				l.Problems = append(l.Problems, s.Problem(r.ID, store.BadMetadata, r.File, err))
			}
			isEmpty := r.Meta.Whole && !r.Meta.Readable && h.Base.Thread == "" // no events in r, and none before it
			isLast := r == threads[r.thread][0]                                // link puts the last file of a thread first
			if isLast && isOfThread && !isEmpty && s.Project.Has(h.Cwd) {
				l.Conversations = append(l.Conversations, s.conversation(r, names))
				for _, other := range r.duplicates {
					err := errors.New("another file of the same id is later, and is read instead")
					l.Problems = append(l.Problems, s.Problem(r.ID, store.Duplicate, other, err))
				}
			}
		}
		return nil
	})
}

// link sets the base and the original of rollouts, the files of threads. A rollout goes on from the records of its base.
// A rollout may begin with copies of the records of its original: the first rollout of the thread that its thread was
// forked from, or else of the thread that started its thread as a task. link returns the rollouts of each thread in the
// order of all: live ones before archived ones, and later ones before earlier ones.
func link(all []*rollout) map[string][]*rollout {
	threads := map[string][]*rollout{}
	for _, r := range all {
		threads[r.thread] = append(threads[r.thread], r)
	}
	for _, r := range all {
		h := &r.Meta.Header
		for _, other := range threads[h.Base.Thread] {
			isEarlier := other.thread != r.thread || other.segment < r.segment
			if r.base == nil && isEarlier && other.Meta.Ordinal < h.Base.End { // other has records before the end of the base
				r.base = other
			}
		}
		if originals := threads[cmp.Or(h.Forked, h.Parent)]; len(originals) > 0 && !h.Paginated {
			r.original = originals[len(originals)-1] // the first rollout is last in the order
		}
	}
	return threads
}

// threadNames returns the names of threads from the index file, by thread. The last line about a thread counts.
func threadNames(root *history.Root) map[string]string {
	names := map[string]string{}
	data, _ := root.ReadFile(indexFile, maxIndexSize) // the file need not exist
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		var named struct {
			Thread string `json:"id"`
			Name   string `json:"thread_name"`
		}
		if jsontext.Decode(line, &named) && named.Thread != "" {
			names[strings.ToLower(named.Thread)] = named.Name
		}
	}
	return names
}

// conversation returns the list's entry for a thread. r is the last rollout of the thread, and names has the names of
// threads. The parent of a sub-agent is the thread that started it, and that of a fork the thread that was forked.
func (s *Store) conversation(r *rollout, names map[string]string) store.Conversation {
	var stamps []filecache.Stamp
	begin := r // the first rollout of the thread
	for _, part := range r.sections() {
		if part.thread == r.thread && part.segment < begin.segment {
			begin = part
		}
		stamps = append(stamps, part.Stamp)
	}
	if r.original != nil {
		stamps = append(stamps, r.original.Stamp)
	}
	c := s.Conversation(r.ID, &r.Meta.Session, r.decode, stamps...)
	c.Title, c.Archived, c.CreatedAt, c.Request = names[r.thread], r.archived, begin.Meta.Created, begin.Meta.Request
	h := &r.Meta.Header
	parent := begin.Meta.Header.Forked // "" for no fork
	if h.Agent && history.IsUUID(h.Parent) {
		parent = h.Parent
	}
	if history.IsUUID(parent) && (parent != r.thread || h.Agent) { // a thread that goes on from itself is no fork
		c.Parent = s.ID(parent, "")
	}
	return c
}

// Codex names the calling thread in the _meta of a call: since 0.169 directly, and since 0.130 in the
// metadata of the turn, together with the thread at the root of all sub-agents.
const threadKey, turnKey = "threadId", "x-codex-turn-metadata"

// Caller implements [store.Recognizer]. Codex names the calling thread in the metadata of a call to a server, and in the
// environment of a shell. The metadata also names the root: the thread that began all sub-agents, or the caller itself.
func (s *Store) Caller(_ context.Context, from caller.Caller) (c store.Caller) {
	turn, _ := from.Meta[turnKey].(map[string]any)
	direct, inTurn, root := uuid(from.Meta[threadKey]), uuid(turn["thread_id"]), uuid(turn["session_id"])
	thread := cmp.Or(direct, inTurn)
	if inTurn != "" && inTurn != thread {
		thread = "" // two names of the calling thread, direct and inTurn, contradict each other
	}
	switch {
	case thread != "" || turn != nil || from.Client == "codex-mcp-client": // it is Codex, even if no thread is known
		c.Evidence = store.ByCall
	case from.Process == caller.Shell && from.Client == "":
		if thread = uuid(s.Getenv("CODEX_THREAD_ID")); thread != "" {
			c.Evidence = store.ByEnvironment
		}
	}
	if thread != "" {
		c.IDs = slices.Compact([]transcript.ID{s.ID(thread, ""), s.ID(cmp.Or(root, thread), "")}) // one id, unless the thread is a sub-agent
	}
	return c
}

// uuid returns a uuid in lower case, and "" for any other value.
func uuid(value any) string {
	text, _ := value.(string)
	if text = strings.ToLower(text); !history.IsUUID(text) {
		return ""
	}
	return text
}
