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
	"github.com/convtools/convtools/runtime/transcript"
)

// place is a directory with the name of a conversation. A conversation is its copies:
// one or two places, the project's first, both live or both archived.
type place struct {
	number   number
	archived bool
	store    int
	dir      string // below the directory of conversations, with slashes
}

// The localities, spelled as JP lists them.
const (
	localityUser      = "Y"   // only the user store
	localityProjected = "N"   // both stores
	localityExternal  = "ext" // only the project's store
)

// conversation returns what is known of a conversation without its metadata.
func (s *session) conversation(copies []place) transcript.Conversation {
	p := copies[0]
	c := transcript.Conversation{
		ID: p.number.id(), CreatedAt: p.number.created(), Archived: p.archived, Locality: localityProjected, Dir: s.w.root,
	}
	switch {
	case len(copies) > 1:
	case p.store == projectStore:
		c.Locality = localityExternal
	default:
		c.Locality, c.UserOnly = localityUser, true
	}
	return c
}

// partition is the directory that holds live or archived conversations.
func partition(archived bool) string {
	if archived {
		return archiveDir
	}
	return "."
}

// everywhere is live and archived conversations.
const everywhere = store.Live | store.Archived

// partitions are the directories that hold conversations, by set.
func partitions(set store.Set) (dirs []string) {
	if set&store.Live != 0 {
		dirs = append(dirs, partition(false))
	}
	if set&store.Archived != 0 {
		dirs = append(dirs, partition(true))
	}
	return dirs
}

// conversations returns the copies of the conversations of a set, in the order of their ids,
// and what could not be used. A conversation that is live in one store and archived in the
// other is there twice, the live one first.
func (s *session) conversations(ctx context.Context, set store.Set) ([][]place, []store.Problem, error) {
	all, problems, err := s.readDirs(ctx, partitions(set)...)
	if err != nil {
		return nil, nil, err
	}
	groups, duplicates := s.group(all)
	return groups, append(problems, duplicates...), nil
}

// readDirs returns the places in directories of each store, ordered by what they are copies of.
func (s *session) readDirs(ctx context.Context, parents ...string) (all []place, problems []store.Problem, err error) {
	for _, parent := range parents {
		for i := range s.stores {
			if err := ctx.Err(); err != nil {
				return nil, nil, err
			}
			entries, err := s.readDir(i, parent)
			if err != nil {
				problems = append(problems, store.Problem{
					Path: s.path(i, parent), Err: fmt.Errorf("the directory cannot be listed: %w", err),
				})
			}
			for _, entry := range entries {
				n, ok := parseDirName(entry.Name())
				p := place{n, path.Base(parent) == archiveDir, i, path.Join(parent, entry.Name())}
				switch {
				case ok && entry.IsDir():
					all = append(all, p)
				case ok && entry.Type()&fs.ModeSymlink != 0:
					problems = append(problems, store.Problem{
						ID: n.id(), Kind: store.Linked, Path: s.path(i, p.dir), Err: errors.New("it is a link; only directories are read"),
					})
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.number, b.number), history.CompareBool(a.archived, b.archived), cmp.Compare(a.store, b.store), cmp.Compare(a.dir, b.dir))
	})
	return all, problems, nil
}

// group brings the copies of each conversation together. Of several directories in one store
// with the same id, which a crash while a title changes can leave, one is kept: the one whose
// events are newer, else the first name.
func (s *session) group(all []place) (groups [][]place, duplicates []store.Problem) {
	for _, p := range all {
		last := len(groups) - 1
		if last < 0 || groups[last][0].number != p.number || groups[last][0].archived != p.archived {
			groups = append(groups, []place{p})
			continue
		}
		kept := &groups[last][len(groups[last])-1]
		if kept.store != p.store {
			groups[last] = append(groups[last], p)
			continue
		}
		if s.newest(p, EventsFile).After(s.newest(*kept, EventsFile)) {
			p, *kept = *kept, p
		}
		if s.exists(p.store, p.dir) && p.dir != kept.dir { // some systems name what is renamed meanwhile twice
			duplicates = append(duplicates, store.Problem{
				ID: p.number.id(), Kind: store.Duplicate, Path: s.path(p.store, p.dir),
				Err: fmt.Errorf("another directory has the same id; %s is used", path.Base(kept.dir)),
			})
		}
	}
	return groups, duplicates
}

// of returns the places of a conversation.
func of(id transcript.ID, all []place) []place {
	n, _ := numberOf(id)
	return slices.DeleteFunc(slices.Clone(all), func(p place) bool { return p.number != n })
}

// files are the files that JP keeps of a conversation.
func files() []string { return []string{MetadataFile, EventsFile, BaseConfigFile} }

// newestFirst orders places by the time of some of their files, the user's first when they are
// equally old, and archived ones last. A single one needs no look at the disk.
func (s *session) newestFirst(places []place, files ...string) []place {
	if len(places) < 2 {
		return places
	}
	return slices.SortedStableFunc(slices.Values(places), func(a, b place) int {
		return cmp.Or(history.CompareBool(a.archived, b.archived), s.newest(b, files...).Compare(s.newest(a, files...)), cmp.Compare(b.store, a.store))
	})
}

// byStream orders copies by whose stream counts: events.json and base_config.json together.
func (s *session) byStream(copies []place) []place {
	return s.newestFirst(copies, EventsFile, BaseConfigFile)
}

// byMetadata orders copies by whose metadata counts: of a live conversation that of the newer
// copy, of an archived one the project's.
func (s *session) byMetadata(copies []place) []place {
	if copies[0].archived {
		return slices.SortedFunc(slices.Values(copies), func(a, b place) int { return cmp.Compare(a.store, b.store) })
	}
	return s.newestFirst(copies, MetadataFile)
}

// newest returns when one of the files of a place was modified last; zero where none is there.
func (s *session) newest(p place, files ...string) (newest time.Time) {
	for _, file := range files {
		info, err := s.stores[p.store].root.Stat(path.Join(p.dir, file))
		if err == nil && info.ModTime().After(newest) {
			newest = info.ModTime()
		}
	}
	return newest
}

// readFirst reads a file of a conversation from the first of some copies that has it.
func (s *session) readFirst(copies []place, file string, max int64) (data []byte, from place, err error) {
	for _, p := range copies {
		data, readErr := s.read(p.store, path.Join(p.dir, file), max)
		switch {
		case !errors.Is(readErr, fs.ErrNotExist):
			return data, p, readErr
		case !s.exists(p.store, p.dir):
			err = errVanished
		case err == nil:
			err = fmt.Errorf("%s is missing", file)
		}
	}
	return nil, place{}, err
}
