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

// place is a directory named as that of a conversation. A conversation has one or two places, its copies: that in the
// project comes first, and both are live or both are archived.
type place struct {
	number   number
	archived bool
	store    int
	dir      string // in the directory of conversations, with slashes
}

// The localities, spelled as JP lists them.
const (
	localityUser      = "Y"   // only in the user's store
	localityProjected = "N"   // in both stores
	localityExternal  = "ext" // only in the project's store
)

// conversation returns what the places of a conversation say of it: its id and time, whether it is archived, and its
// locality. [metadata.describe] sets the other fields.
func (s *session) conversation(copies []place) transcript.Conversation {
	p := copies[0]
	c := transcript.Conversation{ID: p.number.id(), CreatedAt: p.number.created(), Archived: p.archived, Dir: s.w.root}
	switch {
	case len(copies) > 1: // in both stores
		c.Locality = localityProjected
	case p.store == projectStore:
		c.Locality = localityExternal
	default:
		c.Locality, c.UserOnly = localityUser, true
	}
	return c
}

// parentOf returns the directory of live or archived conversations.
func parentOf(archived bool) string {
	if archived {
		return archiveDir
	}
	return liveDir
}

// readDirs returns the places in some directories of each store, in the order of their ids, live ones before archived ones.
// The problems are directories that cannot be listed, and links. The error is that of the context.
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
					problems = append(problems, s.problem(p, store.Linked, errors.New("it is a link; only directories are read")))
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.number, b.number), history.CompareBool(a.archived, b.archived), cmp.Compare(a.store, b.store), cmp.Compare(a.dir, b.dir))
	})
	return all, problems, nil
}

func (s *session) problem(p place, kind store.ProblemKind, err error) store.Problem {
	return store.Problem{ID: p.number.id(), Kind: kind, Path: s.path(p.store, p.dir), Err: err}
}

// group returns the copies of each conversation. A conversation that is live in one store and archived in the other is
// returned twice, first as live. If several directories of a store have the same id, as after a crash while a title
// changed, it uses the directory with the newest events, or else the first by name; the others are duplicates.
func (s *session) group(all []place) (groups [][]place, duplicates []store.Problem) {
	for _, p := range all {
		last := len(groups) - 1
		if last < 0 || groups[last][0].number != p.number || groups[last][0].archived != p.archived {
			groups = append(groups, []place{p})
			continue
		}
		used := &groups[last][len(groups[last])-1]
		if used.store != p.store {
			groups[last] = append(groups[last], p)
			continue
		}
		unused := p
		if s.modified(p, EventsFile).After(s.modified(*used, EventsFile)) {
			unused, *used = *used, p
		}
		// If a directory is renamed during a listing, some systems list it twice. Then unused is the same directory, or is gone.
		if unused.dir != used.dir && s.exists(unused.store, unused.dir) {
			duplicates = append(duplicates, s.problem(unused, store.Duplicate, fmt.Errorf("another directory has the same id; %s is used", path.Base(used.dir))))
		}
	}
	return groups, duplicates
}

// placesOf returns the places of a conversation.
func placesOf(id transcript.ID, all []place) []place {
	n, _ := numberOf(id)
	return slices.DeleteFunc(slices.Clone(all), func(p place) bool { return p.number != n })
}

// newestFirst returns places in this order: live before archived ones, then those whose files were changed later, then
// the place in the user's store before the place in the project.
func (s *session) newestFirst(places []place, files ...string) []place {
	if len(places) < 2 {
		return places
	}
	return slices.SortedStableFunc(slices.Values(places), func(a, b place) int {
		return cmp.Or(history.CompareBool(a.archived, b.archived), s.modified(b, files...).Compare(s.modified(a, files...)), cmp.Compare(b.store, a.store))
	})
}

// byStream orders copies for reading events.json and base_config.json: the first copy counts.
func (s *session) byStream(copies []place) []place {
	return s.newestFirst(copies, EventsFile, BaseConfigFile)
}

// byMetadata orders copies for reading metadata.json: the first copy counts. For a live conversation, this is the copy
// with the newer metadata.json. For an archived conversation, it is the copy in the project, if there is one.
func (s *session) byMetadata(copies []place) []place {
	if copies[0].archived {
		return copies // they have the copy in the project first
	}
	return s.newestFirst(copies, MetadataFile)
}

// modified returns the last modification time of files of a place; zero if none exists.
func (s *session) modified(p place, files ...string) (last time.Time) {
	for _, file := range files {
		info, err := s.stores[p.store].root.Stat(path.Join(p.dir, file))
		if err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last
}

// readFirst reads a file of a conversation from the first of the copies that has it. If none has it, the error is
// errVanished if the directory of a copy is gone, or else says that the file is missing.
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
