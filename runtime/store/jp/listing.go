package jp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
)

// coarsestTime is the longest step in which a file system counts time, every other second as FAT does.
const coarsestTime = 2 * time.Second

// listing is what the directories of the stores hold.
type listing struct {
	// places are in the order of their ids. A conversation that is live in one
	// store and archived in the other has two, the live one first.
	places   []place
	problems []store.Problem
}

// found is a directory with the name of a conversation.
type found struct {
	number   number
	archived bool
	store    int
	dir      string
}

// compareCopies orders by what a directory is a copy of, which a new title does
// not change.
func compareCopies(a, b found) int {
	return cmp.Or(cmp.Compare(a.number, b.number), history.CompareBool(a.archived, b.archived), cmp.Compare(a.store, b.store))
}

// listing returns where the conversations of the set are. It reads each directory once, and asks
// for nothing about the entries except where two claim the same id. Reading a directory may miss an
// entry that is renamed meanwhile, so what has just changed is read once more.
func (s *session) listing(ctx context.Context, set store.Set) (listing, error) {
	started := time.Now()
	all, problems, err := s.readDirs(ctx, partitions(set)...)
	if err == nil && s.newestDir(set).After(started.Add(-coarsestTime)) {
		all, problems, err = s.readDirs(ctx, partitions(set)...)
	}
	if err != nil {
		return listing{}, err
	}
	places, duplicates := s.pair(all)
	return listing{places, append(problems, duplicates...)}, nil
}

// partition is the directory that holds live or archived conversations.
func partition(archived bool) string {
	if archived {
		return archiveDir
	}
	return "."
}

// partitions are the directories that hold conversations, by set.
func partitions(set store.Set) []string {
	var dirs []string
	if set&store.Live != 0 {
		dirs = append(dirs, partition(false))
	}
	if set&store.Archived != 0 {
		dirs = append(dirs, partition(true))
	}
	return dirs
}

// newestDir returns when one of the directories that are listed was modified last.
func (s *session) newestDir(set store.Set) (newest time.Time) {
	for _, dir := range partitions(set) {
		for i := range s.roots {
			if at := s.modTime(i, dir); at.After(newest) {
				newest = at
			}
		}
	}
	return newest
}

// readDirs reads directories of each store once.
func (s *session) readDirs(ctx context.Context, parents ...string) (all []found, problems []store.Problem, err error) {
	for _, parent := range parents {
		for i, root := range s.roots {
			if root == nil {
				continue
			}
			if err := ctx.Err(); err != nil {
				return nil, nil, err
			}
			entries, err := s.w.readDir(root, parent)
			if err != nil {
				problems = append(problems, store.Problem{
					Path: s.path(i, parent), Err: fmt.Errorf("the directory cannot be listed: %w", reason(err)),
				})
			}
			for _, entry := range entries {
				n, ok := parseDirName(entry.Name())
				if !ok {
					continue
				}
				dir := path.Join(parent, entry.Name())
				switch {
				case entry.IsDir():
					all = append(all, found{n, path.Base(parent) == archiveDir, i, dir})
				case entry.Type()&fs.ModeSymlink != 0:
					problems = append(problems, store.Problem{
						ID: n.id(), Kind: store.Linked, Path: s.path(i, dir), Err: errors.New("it is a link; only directories are read"),
					})
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b found) int { return cmp.Or(compareCopies(a, b), cmp.Compare(a.dir, b.dir)) })
	return all, problems, nil
}

// pair brings the copies of a conversation together. Of several directories in
// one store with the same id one is kept: the one whose events are newer, else the first name.
// A crash while a title changes can leave two.
func (s *session) pair(all []found) (places []place, duplicates []store.Problem) {
	places = make([]place, 0, len(all))
	for _, f := range all {
		if n := len(places); n == 0 || places[n-1].number != f.number || places[n-1].archived != f.archived {
			places = append(places, place{number: f.number, archived: f.archived})
		}
		p := &places[len(places)-1]
		kept, dropped := f.dir, p.dirs[f.store]
		if dropped != "" && !s.modTime(f.store, kept, eventsFile).After(s.modTime(f.store, dropped, eventsFile)) {
			kept, dropped = dropped, kept
		}
		p.dirs[f.store] = kept
		// Some systems name what is renamed meanwhile twice.
		if dropped != "" && dropped != kept && s.exists(f.store, dropped) {
			duplicates = append(duplicates, store.Problem{
				ID: f.number.id(), Kind: store.Duplicate, Path: s.path(f.store, dropped),
				Err: fmt.Errorf("another directory has the same id; %s is used", path.Base(kept)),
			})
		}
	}
	return places, duplicates
}

// locate looks for one conversation, of two places for the archived or the live
// one as preferred.
func (l *listing) locate(want number, preferArchived bool) (place, bool) {
	i, ok := slices.BinarySearchFunc(l.places, want, func(p place, n number) int { return cmp.Compare(p.number, n) })
	if !ok {
		return place{}, false
	}
	if next := i + 1; preferArchived && next < len(l.places) && l.places[next].number == want {
		i = next
	}
	return l.places[i], true
}

// onePlaceEach returns the places without the archived ones of conversations that also have a
// live one.
func (l *listing) onePlaceEach() []place {
	return slices.CompactFunc(slices.Clone(l.places), func(a, b place) bool { return a.number == b.number })
}
