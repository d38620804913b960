package jp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"path"
	"slices"

	"github.com/convtools/convtools/runtime/base/parallel"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/filecache"
	"github.com/convtools/convtools/runtime/store/internal/jpevents"
	"github.com/convtools/convtools/runtime/transcript"
)

// MaxEventsSize is the largest events.json that is read, in bytes.
const MaxEventsSize = 1 << 30

// List implements [store.Store]. It leaves out a conversation that cannot be used, unless the scope has its id.
func (w *Workspace) List(ctx context.Context, scope store.Scope) (*store.Listing, error) {
	s, unopened, err := w.open()
	if err != nil {
		return nil, err
	}
	all, problems, err := s.list(ctx, scope)
	if err != nil {
		s.Close()
		return nil, err
	}
	l := &store.Listing{Remarks: w.Remarks(ctx), Release: s.Close, Problems: unopened}
	if len(scope.IDs) > 0 {
		l.Conversations = all
		return l, nil
	}
	for _, c := range all {
		if bad := unusable(c.Problems); bad != nil {
			problems = append(problems, *bad)
		} else {
			l.Conversations = append(l.Conversations, c)
		}
	}
	l.Problems = append(l.Problems, problems...)
	return l, nil
}

// unusable returns the problem because of which the metadata of a conversation cannot be read: the first that is not about
// a single field. It returns nil if there is none.
func unusable(problems []store.Problem) *store.Problem {
	i := slices.IndexFunc(problems, func(p store.Problem) bool { return p.Kind != store.BadField })
	if i < 0 {
		return nil
	}
	return &problems[i]
}

// notFound returns the error for conversations that do not exist.
func (s *session) notFound(ids ...transcript.ID) error {
	return &store.NotFoundError{IDs: ids, Place: s.w.root}
}

// list returns the conversations of a scope in the order of their ids, and what could not be used.
func (s *session) list(ctx context.Context, scope store.Scope) ([]store.Conversation, []store.Problem, error) {
	places, problems, err := s.readDirs(ctx, liveDir, archiveDir)
	if err != nil {
		return nil, nil, err
	}
	found, duplicates := s.group(places)
	found = slices.DeleteFunc(found, func(copies []place) bool { return !scope.Has(copies[0].number.id(), copies[0].archived) })
	// A conversation that is live in one store and archived in the other is in found twice. The first, live, is kept.
	found = slices.CompactFunc(found, func(a, b []place) bool { return a[0].number == b[0].number })
	all := make([]store.Conversation, len(found))
	parallel.Each(ctx, len(found), func(numbers iter.Seq[int]) {
		for i := range numbers {
			all[i] = s.readConversation(ctx, found[i])
		}
	})
	isGone := func(c store.Conversation) bool { return c.ID == "" || !scope.Has(c.ID, c.Archived) } // removed, or moved to the archive or back, while it was read
	return slices.DeleteFunc(all, isGone), append(problems, duplicates...), ctx.Err()
}

// follow calls do to read a conversation in copies. If do returns errVanished, because a directory was renamed meanwhile,
// follow looks for the present copies and calls do again. The error is a [*store.NotFoundError] if there are none.
func (s *session) follow(ctx context.Context, copies []place, do func([]place) error) error {
	const most = 10 // renames during one read
	id := copies[0].number.id()
	err := do(copies)
	for round := 0; errors.Is(err, errVanished) && round < most; round++ {
		all, _, listErr := s.readDirs(ctx, liveDir, archiveDir)
		if listErr != nil {
			return listErr
		}
		groups, _ := s.group(placesOf(id, all))
		if len(groups) == 0 {
			return s.notFound(id)
		}
		err = do(groups[0]) // the live copies, or else the archived copies
	}
	return err
}

// readConversation returns the conversation in copies, with its metadata from the cache or else from metadata.json. If the
// metadata cannot be read, the conversation has a problem. If the conversation was removed, the result is the zero value.
func (s *session) readConversation(ctx context.Context, copies []place) (c store.Conversation) {
	err := s.follow(ctx, copies, func(now []place) error { // runs again, with the present copies, if a directory is renamed meanwhile
		stamps := s.stamps(now) // before the metadata is read
		r := &record{s: s, copies: now, version: filecache.Version(stamps...) + parentOf(now[0].archived)}
		c = store.Conversation{Conversation: s.conversation(now), Record: r}
		key := fmt.Sprint(now) // the key of the metadata in the cache
		var labels string      // c.Labels as JSON, because the cache has no maps
		fields := []any{&c.Title, (*string)(&c.Parent), &c.Hidden, &c.LastActivatedAt, &c.PinnedAt, &c.ArchivedAt, &c.ExpiresAt, &labels}
		if filecache.ReadFields(s.w.cache.Get(key, stamps...), fields...) && json.Unmarshal([]byte(labels), &c.Labels) == nil {
			return nil
		}
		if _, err := s.readMetadata(now, &c); err != nil || len(c.Problems) > 0 {
			return err // the cache has only metadata without problems
		}
		data, _ := json.Marshal(c.Labels) // texts have no errors
		labels = string(data)
		s.w.cache.Put(key, filecache.AppendFields(nil, fields...), stamps...)
		return nil
	})
	var gone *store.NotFoundError
	switch {
	case errors.As(err, &gone):
		return store.Conversation{}
	case errors.Is(err, errVanished):
		c.Problems = append(c.Problems, s.problem(copies[0], store.Vanishing, err))
	case err != nil:
		c.Problems = append(c.Problems, s.problem(copies[0], store.BadMetadata, err))
	}
	return c
}

// readMetadata sets the fields of c from a metadata.json, and returns the content of the file. It tries each of the copies
// until a file can be read. If all fail, it returns the first error that says more than errVanished, or else errVanished.
func (s *session) readMetadata(copies []place, c *store.Conversation) (data []byte, err error) {
	for _, p := range s.byMetadata(copies) { // the copy whose metadata counts comes first
		data, _, readErr := s.readFirst([]place{p}, MetadataFile, maxMetadataSize)
		var m metadata
		if readErr == nil {
			m, readErr = parseMetadata(data)
		}
		if readErr == nil {
			m.describe(c)
			return data, nil
		}
		if err == nil || errors.Is(err, errVanished) { // readErr is the first error, or says more
			err = readErr
		}
	}
	return nil, err
}

// record implements [store.Record] for a listed conversation.
type record struct {
	s       *session
	copies  []place
	version string
}

// Version implements [store.Record].
func (r *record) Version(context.Context) (string, error) { return r.version, nil }

// Read implements [store.Record].
func (r *record) Read(ctx context.Context, yield func(*transcript.Event) bool) (store.Totals, error) {
	data, err := r.data(ctx)
	if err != nil {
		return store.Totals{}, fmt.Errorf("reading the events of %s: %w", r.copies[0].number.id(), err)
	}
	totals, err := jpevents.Scan(data, func(e *jpevents.Event) bool {
		if yield == nil || ctx.Err() != nil { // events are only counted, or reading is cancelled
			return ctx.Err() == nil
		}
		event := e.Decode()
		return yield(&event)
	})
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return totals, err
}

// data returns the content of the conversation's events.json, in the copy whose events were written last.
func (r *record) data(ctx context.Context) (data []byte, err error) {
	err = r.s.follow(ctx, r.copies, func(copies []place) error { // runs again, with the present copies, if a directory is renamed meanwhile
		data, _, err = r.s.readFirst(r.s.byStream(copies), EventsFile, r.s.w.maxEvents) // byStream puts the newest copy first
		return cmp.Or(err, ctx.Err())
	})
	return data, err
}

// stamps returns the stamps of the files that matter to readers: metadata.json and events.json of each copy. If there
// are two copies, base_config.json matters too, because its time helps to decide which copy is read.
func (s *session) stamps(copies []place) (stamps []filecache.Stamp) {
	for _, p := range copies {
		for _, name := range files() {
			if isIgnored := name == BaseConfigFile && len(copies) == 1; !isIgnored {
				stamps = append(stamps, filecache.At(s.path(p.store, p.dir+"/"+name)))
			}
		}
	}
	return stamps
}

// Path returns the path of a file of a conversation; "." is the directory of the conversation. If there are two copies,
// Path prefers the copy that is read. The error is a [*store.NotFoundError] if there is no such conversation.
func (w *Workspace) Path(ctx context.Context, id transcript.ID, file string) (string, error) {
	s, _, err := w.open()
	if err != nil {
		return "", err
	}
	defer s.Close()
	found, _, err := s.list(ctx, store.Scope{IDs: []transcript.ID{id}})
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return "", s.notFound(id)
	}
	copies := s.byStream(found[0].Record.(*record).copies) // the copy whose events are read comes first
	if file == MetadataFile {
		copies = s.byMetadata(copies) // the copy whose metadata is read comes first
	}
	for _, p := range copies {
		if name := path.Join(p.dir, file); s.exists(p.store, name) {
			return s.path(p.store, name), nil
		}
	}
	return "", fmt.Errorf("%s has no %s", id, file)
}
