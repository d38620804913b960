package jp

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/convtools/convtools/runtime/base/parallel"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// maxRelists is how often the stores are listed again for conversations whose
// directories were renamed under the reader.
const maxRelists = 10

// everywhere is live and archived conversations.
const everywhere = store.Live | store.Archived

// List implements [store.Store].
func (w *Workspace) List(ctx context.Context, scope store.Scope) (*store.Listing, error) {
	s, unopened, err := w.Open(ctx)
	if err != nil {
		return nil, err
	}
	all, problems, err := s.list(ctx, scope)
	if err != nil {
		s.Close()
		return nil, err
	}
	l := &store.Listing{Remarks: w.Remarks(ctx), Release: s.Close, Problems: slices.Clone(unopened)}
	for _, c := range all {
		bad := unusable(c.Problems)
		if bad == nil || len(scope.IDs) > 0 {
			l.Conversations = append(l.Conversations, c)
		} else {
			problems = append(problems, *bad)
		}
	}
	if len(scope.IDs) == 0 {
		l.Problems = append(l.Problems, problems...)
	}
	return l, nil
}

// Find returns one conversation, live or archived. One with broken metadata is
// returned with that among its problems: its events can still be read.
func (s *session) Find(ctx context.Context, id transcript.ID) (store.Conversation, error) {
	found, _, err := s.list(ctx, store.Scope{IDs: []transcript.ID{id}})
	switch {
	case err != nil:
		return store.Conversation{}, err
	case len(found) == 0:
		return store.Conversation{}, s.notFound(id)
	}
	return found[0], nil
}

// list returns the conversations of a scope in the order of their ids, and what of the stores
// could not be used.
func (s *session) list(ctx context.Context, scope store.Scope) ([]store.Conversation, []store.Problem, error) {
	set := scope.Set
	if len(scope.IDs) > 0 {
		set = everywhere
	}
	l, err := s.listing(ctx, set)
	if err != nil {
		return nil, nil, err
	}
	places := slices.DeleteFunc(l.onePlaceEach(), func(p place) bool { return !scope.Has(p.number.id(), p.archived) })
	all := make([]store.Conversation, len(places))
	parallel.Each(ctx, len(places), func(numbers iter.Seq[int]) {
		for i := range numbers {
			all[i] = s.look(ctx, places[i])
		}
	})
	isGone := func(c store.Conversation) bool { return c.ID == "" || !scope.Has(c.ID, c.Archived) }
	return slices.DeleteFunc(all, isGone), l.problems, ctx.Err()
}

// follow has do read a conversation in a place, and in another one where its directory was renamed
// meanwhile. The error is a [*store.NotFoundError] where it is gone.
func (s *session) follow(ctx context.Context, p place, do func(place) error) error {
	for round := 0; ; round++ {
		err := do(p)
		if !errors.Is(err, errVanished) || round == maxRelists {
			return err
		}
		l, err := s.listing(ctx, everywhere)
		if err != nil {
			return err
		}
		moved, ok := l.locate(p.number, p.archived)
		if !ok {
			return s.notFound(p.number.id())
		}
		p = moved
	}
}

// unusable returns the problem for which a conversation has no metadata, or nil.
func unusable(problems []store.Problem) *store.Problem {
	i := slices.IndexFunc(problems, func(p store.Problem) bool { return p.Kind != store.BadField })
	if i < 0 {
		return nil
	}
	return &problems[i]
}

// notFound is the error for conversations that are nowhere.
func (s *session) notFound(ids ...transcript.ID) error {
	return &store.NotFoundError{IDs: ids, Place: s.w.root}
}

// readMetadata reads metadata.json from the copy that counts, and returns it. A copy
// that is missing or broken leaves the word to the other.
func (s *session) readMetadata(p *place, c *store.Conversation) ([]byte, error) {
	var missing, broken error
	for _, i := range s.byMetadata(p) {
		data, _, err := s.readFirst(p, []int{i}, metadataFile, maxMetadataSize)
		if errors.Is(err, errVanished) {
			missing = err
			continue
		}
		var m metadata
		if err == nil {
			m, err = parseMetadata(data)
		}
		if err == nil {
			m.describe(c)
			return data, nil
		}
		broken = cmp.Or(broken, err)
	}
	return nil, cmp.Or(broken, missing)
}

// anyPath returns the path of one copy, for messages.
func (s *session) anyPath(p *place) string {
	for i, dir := range p.dirs {
		if dir != "" {
			return s.path(i, dir)
		}
	}
	return ""
}
