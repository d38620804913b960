// Package codex reads the conversations that the Codex CLI recorded for a project:
// threads and those of their sub-agents, from the rollouts in its home directory.
//
// It is a reader. It never creates, changes or locks anything, opens only regular
// files below the home directory, and none of the databases there: rollouts are what
// they are made of. Only the two directories of rollouts may be links to elsewhere, as
// users make them who have moved what is large. A thread belongs to a project by the
// working directory that is recorded in it.
package codex

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
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

// Store is the conversations of a project, as a [store.Store], in the home directory.
type Store struct{ history.Store }

// Open returns the store, and false where Codex has recorded nothing there.
func Open(o store.Options) (*Store, bool) {
	s, ok := history.Open(o, Name, Home, "", IDs())
	s.Moved = []string{sessionsDir, archiveDir}
	return &Store{s}, ok && slices.ContainsFunc(s.Moved, func(dir string) bool { return store.IsThere(filepath.Join(s.Dir, dir)) })
}

// Home returns the directory that Codex keeps everything in, or "" where the
// environment does not tell.
func Home(getenv func(string) string) string {
	return cmp.Or(getenv("CODEX_HOME"), history.InHome(getenv, ".codex"))
}

// IDs returns what ids are: the uuid of a thread. A bare uuid is one too, where it is of version 7.
func IDs() *history.IDs {
	return &history.IDs{Prefix: "codex-", Bare: history.IsTimed, Example: "codex-01a1ffd7-7b57-7ca0-9fa0-3b693e56b89f"}
}

func id(thread string) transcript.ID { return IDs().ID(thread, "") }

const (
	sessionsDir  = "sessions"
	archiveDir   = "archived_sessions"
	indexFile    = "session_index.jsonl"
	compressed   = ".zst"
	maxIndexSize = 16 << 20 // bytes of indexFile
)

// session is the opened home directory, with the rollouts of each thread once they were asked for,
// the last one first.
type session struct {
	*history.Root
	store    *Store
	threads  map[string][]*rollout
	unlisted []store.Problem
}

// rollout is a file of a thread. A thread that was reverted has several, of which the
// last one counts.
type rollout struct {
	history.Entry[metadata]
	thread     string // uuid
	segment    string // uuid; empty for the first one
	archived   bool
	compressed bool
}

// rolloutName is the form of the name of a rollout: a time, the thread, and a segment.
const rolloutName, anyUUID = `^rollout-.{19}-(UUID)(?:_(UUID))?\.jsonl(\.zst)?$`, "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"

// list finds the rollouts.
func (s *session) list() {
	s.threads = map[string][]*rollout{}
	form := regexp.MustCompile(strings.ReplaceAll(rolloutName, "UUID", anyUUID))
	for _, dir := range []string{sessionsDir, archiveDir} {
		files, unread, err := s.store.Walk(s.Root, dir, func(below string) bool {
			return dir == sessionsDir && strings.Count(below, "/") <= len("YMD") && strings.Trim(path.Base(below), "0123456789") == ""
		})
		if s.unlisted = append(s.unlisted, unread...); err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.unlisted = append(s.unlisted, s.store.Problem("", store.Unreadable, dir, err))
		}
		for _, file := range files {
			if is := form.FindStringSubmatch(strings.ToLower(path.Base(file))); is != nil {
				r := &rollout{thread: is[1], segment: is[2], archived: dir == archiveDir, compressed: is[3] != ""}
				r.File, r.ID = file, id(r.thread)
				s.threads[r.thread] = append(s.threads[r.thread], r)
			}
		}
	}
	for _, all := range s.threads {
		slices.SortFunc(all, func(a, b *rollout) int {
			return cmp.Or(
				history.CompareBool(a.archived, b.archived), strings.Compare(b.segment, a.segment),
				history.CompareBool(a.compressed, b.compressed), strings.Compare(b.File, a.File),
			)
		})
	}
}

// segments returns the rollouts of a thread, the last one first.
func (s *session) segments(thread string) []*rollout {
	if s.threads == nil {
		s.list()
	}
	return s.threads[thread]
}

var errBeginning = errors.New("it does not begin with what this thread is")

var errDuplicate = errors.New("another file of the same id is later, and is read instead")

// List implements [store.Store].
func (s *Store) List(ctx context.Context, scope store.Scope) (*store.Listing, error) {
	opened := &session{store: s}
	return history.List(ctx, &s.Store, scope, func(root *history.Root) (wanted []*rollout, problems []store.Problem, err error) {
		opened.Root = root
		opened.list()
		for _, thread := range slices.Sorted(maps.Keys(opened.threads)) {
			if one := *opened.threads[thread][0]; scope.Has(one.ID, one.archived) { // which is not shared
				wanted = append(wanted, &one)
			}
		}
		return wanted, opened.unlisted, nil
	}, func(_ *history.Root, all []*rollout, l *store.Listing) error {
		names := opened.names()
		for _, r := range all {
			h := &r.Meta.Header
			if r.Meta.Begun && h.Thread != r.thread {
				l.Problems = append(l.Problems, s.Problem(r.ID, store.BadMetadata, r.File, errBeginning))
			}
			if h.Thread != r.thread || r.Meta.Whole && !r.Meta.Told && h.Base.Thread == "" || !s.Project.Has(h.Cwd) {
				continue
			}
			l.Conversations = append(l.Conversations, opened.conversation(ctx, r, names))
			for _, other := range opened.segments(r.thread) {
				if other.File != r.File && other.segment == r.segment && other.archived == r.archived && other.compressed == r.compressed {
					l.Problems = append(l.Problems, s.Problem(r.ID, store.Duplicate, other.File, errDuplicate))
				}
			}
		}
		return nil
	})
}

// names returns the names that threads were given: the last one of each counts.
func (s *session) names() map[string]string {
	names := map[string]string{}
	data, err := s.ReadFile(indexFile, maxIndexSize)
	if err != nil {
		return names // there need not be any
	}
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

// conversation returns what a list has of a rollout.
func (s *session) conversation(ctx context.Context, r *rollout, names map[string]string) store.Conversation {
	h, begin := &r.Meta.Header, r // of the thread, where that was reverted
	for n := 0; begin.Meta.Header.Base.Thread == r.thread && n < maxSections; n++ {
		before := s.before(ctx, begin)
		if before == nil {
			break
		}
		begin = before
	}
	file := history.File{Store: &s.store.Store, ID: r.ID, Name: r.File, Stamps: s.stamps(r)}
	c := s.store.Conversation(r.ID, &r.Meta.Session, &conversation{File: file, store: s.store, rollout: r})
	c.Title, c.Archived, c.CreatedAt, c.Request = names[r.thread], r.archived, begin.Meta.Created, begin.Meta.Request
	parent := begin.Meta.Header.Forked
	if h.Agent && history.IsUUID(h.Parent) {
		parent = h.Parent
	}
	if history.IsUUID(parent) && (parent != r.thread || h.Agent) {
		c.Parent = id(parent)
	}
	return c
}

// stamps returns those of all rollouts that a thread is read of.
func (s *session) stamps(r *rollout) []filecache.Stamp {
	stamps := []filecache.Stamp{r.Stamp}
	for _, before := range s.segments(r.Meta.Header.Base.Thread) {
		stamps = append(stamps, s.Stamp(before.File))
	}
	if originals := s.segments(r.Meta.Header.original()); len(originals) > 0 {
		stamps = append(stamps, s.Stamp(originals[len(originals)-1].File))
	}
	return stamps
}

// threadKey and turnKey are where Codex says which thread calls, in the _meta of a call: since 0.169
// by itself, and since 0.130 in what it says of the turn, with the thread that all sub-agents come from.
const threadKey, turnKey = "threadId", "x-codex-turn-metadata"

// Caller implements [store.Recognizer].
func (s *Store) Caller(_ context.Context, from caller.Caller) (c store.Caller) {
	turn, _ := from.Meta[turnKey].(map[string]any)
	own, named, root := uuid(from.Meta[threadKey]), uuid(turn["thread_id"]), uuid(turn["session_id"])
	thread := cmp.Or(own, named)
	if named != "" && named != thread {
		thread = "" // one of them is not what it is taken for
	}
	switch {
	case thread != "" || turn != nil || from.Client == "codex-mcp-client":
		c.Evidence = store.ByCall
	case from.Process == caller.Shell && from.Client == "":
		if thread, root = uuid(s.Getenv("CODEX_THREAD_ID")), ""; thread != "" {
			c.Evidence = store.ByEnvironment
		}
	}
	for _, uuid := range []string{thread, root} {
		if uuid != "" && thread != "" {
			c.IDs = append(c.IDs, id(uuid))
		}
	}
	c.IDs = slices.Compact(c.IDs)
	return c
}

// uuid returns a uuid in its one spelling, and "" for anything else.
func uuid(value any) string {
	text, _ := value.(string)
	if text = strings.ToLower(text); !history.IsUUID(text) {
		return ""
	}
	return text
}
