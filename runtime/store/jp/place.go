package jp

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/transcript"
)

// The localities, spelled as JP lists them.
const (
	localityUser      = "Y"   // only the user store
	localityProjected = "N"   // both stores
	localityExternal  = "ext" // only the project's store
)

var (
	errVanished    = errors.New("its directory is renamed or removed again and again")
	errLeavesStore = errors.New("is a link that leads out of the store")
)

// place is where the copies of one conversation are: a path inside the
// conversations directory of each store, "" where there is none. At least one
// store has a copy.
type place struct {
	number   number
	archived bool
	dirs     [numStores]string
}

// conversation is what is known of it without its metadata.
func (p *place) conversation() transcript.Conversation {
	c := transcript.Conversation{ID: p.number.id(), CreatedAt: p.number.created(), Archived: p.archived, Locality: localityProjected}
	switch {
	case p.dirs[userStore] == "":
		c.Locality = localityExternal
	case p.dirs[projectStore] == "":
		c.Locality, c.UserOnly = localityUser, true
	}
	return c
}

// byAge orders the stores that hold a copy: the one with the newer files first,
// the user store when they are equally old. A single copy needs no look at the
// disk.
func (s *session) byAge(p *place, files ...string) []int {
	held := slices.DeleteFunc([]int{userStore, projectStore}, func(i int) bool { return p.dirs[i] == "" })
	if len(held) == numStores && s.newest(projectStore, p.dirs[projectStore], files).After(s.newest(userStore, p.dirs[userStore], files)) {
		slices.Reverse(held)
	}
	return held
}

// byStream orders the stores by whose stream counts, which is events.json and base_config.json
// together.
func (s *session) byStream(p *place) []int { return s.byAge(p, eventsFile, baseConfigFile) }

// byMetadata orders the stores that hold a copy by whose metadata counts: of a live
// conversation that of the newer copy, of an archived one the project's.
func (s *session) byMetadata(p *place) []int {
	if p.archived && p.dirs[projectStore] != "" && p.dirs[userStore] != "" {
		return []int{projectStore, userStore}
	}
	return s.byAge(p, metadataFile)
}

func (s *session) newest(i int, dir string, files []string) time.Time {
	var newest time.Time
	for _, file := range files {
		if t := s.modTime(i, dir, file); t.After(newest) {
			newest = t
		}
	}
	return newest
}

// modTime returns when a file was modified, or the zero time when it is missing.
func (s *session) modTime(i int, name ...string) time.Time {
	if s.roots[i] == nil {
		return time.Time{}
	}
	info, err := s.roots[i].Stat(path.Join(name...))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

func (s *session) exists(i int, dir string) bool {
	_, err := s.roots[i].Lstat(dir)
	return err == nil
}

// readFirst reads a file of a conversation from the first of some stores that has it.
func (s *session) readFirst(p *place, stores []int, file string, max int64) (data []byte, from int, err error) {
	for _, i := range stores {
		data, readErr := s.read(i, path.Join(p.dirs[i], file), max)
		switch {
		case !errors.Is(readErr, fs.ErrNotExist):
			return data, i, readErr
		case !s.exists(i, p.dirs[i]):
			err = errVanished
		case err == nil:
			err = fmt.Errorf("%s is missing", file)
		}
	}
	return nil, 0, err
}

// read reads a file in a store, of at most max bytes. It neither waits for the other
// end of a FIFO nor follows a link out of the store.
func (s *session) read(i int, name string, max int64) ([]byte, error) {
	if s.w.beforeRead != nil {
		s.w.beforeRead(s.path(i, name))
	}
	data, err := safefile.ReadIn(s.roots[i], name, max)
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist):
		return data, err
	case leavesRoot(s.roots[i], err):
		return nil, fmt.Errorf("%s %w", path.Base(name), errLeavesStore)
	}
	return nil, fmt.Errorf("%s: %w", path.Base(name), reason(err))
}

func tooLarge(file string, max int64) error {
	return fmt.Errorf("%s: %w", file, &safefile.TooLargeError{Most: max})
}

// leavesRoot reports whether err is about a path that leads out of the root. Package
// os does not export that error, so one is provoked to compare with.
func leavesRoot(root *os.Root, err error) bool {
	_, outside := root.Lstat("..")
	var pathErr *fs.PathError
	return errors.As(outside, &pathErr) && errors.Is(err, pathErr.Err)
}

// readDir returns the entries of a directory inside a store in no particular
// order, and none when it does not exist.
func readDir(root *os.Root, name string) ([]fs.DirEntry, error) {
	entries, err := safefile.ReadDirIn(root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return entries, err
}

// reason returns the cause of an error without the path, which messages name
// themselves.
func reason(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}
