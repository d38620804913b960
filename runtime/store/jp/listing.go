package jp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
)

// Reading a directory may miss an entry that is renamed meanwhile, under its old
// name and under its new one. So the directories are read again unless their
// modification times show that nothing happened.
const (
	// maxPasses bounds how often one listing reads the directories.
	maxPasses = 5
	// coarsestTime is the longest step in which a file system counts time, every other second
	// as FAT does: a directory modified less than this before a pass may change during it and
	// show the same time.
	coarsestTime = 2 * time.Second
)

// listing is what the directories of the stores hold.
type listing struct {
	// places are in the order of their ids. A conversation that is live in one
	// store and archived in the other has two, the live one first.
	places   []place
	problems []store.Problem
	// settled is false when the directories changed whenever they were read.
	// places are all that were seen then, some perhaps gone, some perhaps missed.
	settled bool
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

// list returns where the conversations of the set are. Where nothing changes it reads each
// directory once, or twice where it has just changed, and asks for nothing about the entries
// except where two claim the same id.
func (s *session) list(ctx context.Context, set store.Set) (listing, error) {
	var seen, last []found
	before := s.dirTimes(set)
	for pass := 1; ; pass++ {
		started := time.Now()
		entries, problems, err := s.readDirs(ctx, set)
		if err != nil {
			return listing{}, err
		}
		after := s.dirTimes(set)
		agrees := pass > 1 && slices.EqualFunc(entries, last, func(a, b found) bool { return compareCopies(a, b) == 0 })
		newest := time.Unix(0, slices.Max(after))
		settled := slices.Equal(after, before) && (agrees || started.Sub(newest) > coarsestTime)
		if seen = union(entries, seen); settled {
			seen = entries
		}
		if settled || pass == maxPasses {
			places, duplicates := s.pair(seen)
			return listing{places, append(problems, duplicates...), settled}, nil
		}
		before, last = after, entries
	}
}

// union adds to the entries of a pass the copies that only earlier passes saw.
func union(entries, earlier []found) []found {
	all := slices.Clone(entries)
	for _, f := range earlier {
		if _, ok := slices.BinarySearchFunc(entries, f, compareCopies); !ok {
			all = append(all, f)
		}
	}
	sortFound(all)
	return all
}

func sortFound(entries []found) {
	slices.SortFunc(entries, func(a, b found) int { return cmp.Or(compareCopies(a, b), cmp.Compare(a.dir, b.dir)) })
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
		dirs = append(dirs, ".")
	}
	if set&store.Archived != 0 {
		dirs = append(dirs, archiveDir)
	}
	return dirs
}

// dirTimes returns when the directories that are listed were modified, in nanoseconds; 0 where
// there is none.
func (s *session) dirTimes(set store.Set) []int64 {
	times := []int64{0}
	for _, parent := range partitions(set) {
		for _, root := range s.roots {
			var at int64
			if root != nil {
				if info, err := root.Stat(parent); err == nil {
					at = info.ModTime().UnixNano()
				}
			}
			times = append(times, at)
		}
	}
	return times
}

// readDirs reads each directory once.
func (s *session) readDirs(ctx context.Context, set store.Set) (all []found, problems []store.Problem, err error) {
	for _, parent := range partitions(set) {
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
					Path: filepath.Join(s.paths[i], parent),
					Err:  fmt.Errorf("the directory cannot be listed: %w", reason(err)),
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
					all = append(all, found{n, parent == archiveDir, i, dir})
				case entry.Type()&fs.ModeSymlink != 0:
					problems = append(problems, store.Problem{
						ID: n.id(), Kind: store.Linked, Path: s.path(i, dir), Err: errors.New("it is a link; only directories are read"),
					})
				}
			}
		}
	}
	sortFound(all)
	return all, problems, nil
}

// pair brings the copies of a conversation together. Of several directories in
// one store with the same id one is kept.
func (s *session) pair(all []found) (places []place, duplicates []store.Problem) {
	places = make([]place, 0, len(all))
	for _, f := range all {
		if n := len(places); n == 0 || places[n-1].number != f.number || places[n-1].archived != f.archived {
			places = append(places, place{number: f.number, archived: f.archived})
		}
		p := &places[len(places)-1]
		other := p.dirs[f.store]
		if other == "" || other == f.dir { // some systems name what is renamed meanwhile twice
			p.dirs[f.store] = f.dir
			continue
		}
		kept, dropped := s.pickDuplicate(f.store, other, f.dir)
		p.dirs[f.store] = kept
		if s.exists(f.store, dropped) {
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

// onePlaceEach drops the archived place of conversations that also have a live
// one.
func (l *listing) onePlaceEach() []place {
	return slices.CompactFunc(l.places, func(a, b place) bool { return a.number == b.number })
}
