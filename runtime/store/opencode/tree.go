package opencode

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/jsontext"
)

// tree is the files that versions before 1.2 kept: one for each session, message and
// part. It implements [source], and holds no open files.
type tree struct{ dir string }

// The folders of the tree. That of sessions has one for each project, that of messages
// one for each session, and that of parts one for each message.
const (
	treeDir       = "storage"
	sessionDir    = "session"
	messageDir    = "message"
	partDir       = "part"
	fileExtension = ".json"
)

// maxFile bounds the file of a session or a message, in bytes.
const maxFile = 16 << 20

func (t *tree) path() string { return t.dir }

func (*tree) Retain() {}

func (*tree) Release() {}

// in calls do with the directory of the tree.
func (t *tree) in(do func(root *os.Root) error) error {
	root, err := safefile.OpenDir(t.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return do(root)
}

// names returns the names in a folder that begin with a prefix and are ids, those of files without
// their extension, in their order, and none where there is no folder.
func names(root *os.Root, dir, prefix string) ([]string, error) {
	var found []string
	entries, err := safefile.ReadDirIn(root, dir)
	for _, e := range entries {
		name, isFile := strings.CutSuffix(e.Name(), fileExtension)
		if isFile != e.IsDir() && (prefix == "" && e.IsDir() || isID(name, prefix)) {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return found, err
}

// files returns the paths of the files in the folder of an id.
func files(root *os.Root, dir, id, prefix string) ([]string, error) {
	found, err := names(root, path.Join(dir, id), prefix)
	for i, name := range found {
		found[i] = path.Join(dir, id, name+fileExtension)
	}
	return found, err
}

// idOf returns the id that a file is named after.
func idOf(file string) string { return strings.TrimSuffix(path.Base(file), fileExtension) }

func messageFiles(root *os.Root, session string) ([]string, error) {
	return files(root, messageDir, session, "msg_")
}

func partFiles(root *os.Root, message string) ([]string, error) {
	return files(root, partDir, message, "prt_")
}

func (t *tree) full(name string) string { return filepath.Join(t.dir, filepath.FromSlash(name)) }

func (t *tree) sessions(ctx context.Context, session string) (all []*info, problems []store.Problem, err error) {
	err = t.in(func(root *os.Root) error {
		projects, err := names(root, sessionDir, "")
		for _, project := range projects {
			found := []string{path.Join(sessionDir, project, session+fileExtension)}
			if session == "" {
				var err error
				if found, err = files(root, sessionDir, project, sessionPrefix); err != nil {
					problems = append(problems, history.Problem("", store.Unreadable, t.full(path.Join(sessionDir, project)), err))
				}
			}
			for _, file := range found {
				i, err := t.info(root, file)
				switch {
				case ctx.Err() != nil:
					return ctx.Err()
				case err != nil:
					problems = append(problems, history.Problem(id(idOf(file)), store.BadMetadata, t.full(file), err))
				case i != nil:
					all = append(all, i)
				}
			}
		}
		return err
	})
	return all, problems, err
}

var errNoObject = errors.New("it is no JSON object")

// info reads the file of a session. It returns nil where there is none, or where nothing is
// recorded in it.
func (t *tree) info(root *os.Root, file string) (*info, error) {
	data, err := safefile.ReadIn(root, file, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var from struct {
		Parent string `json:"parentID"`
		Dir    string `json:"directory"`
		Title  string `json:"title"`
		Revert revert `json:"revert"`
		Time   times  `json:"time"`
	}
	if !jsontext.Decode(data, &from) {
		return nil, errNoObject
	}
	i := &info{source: t, session: idOf(file), parent: from.Parent, dir: from.Dir, title: from.Title, revert: from.Revert, times: from.Time}
	messages, err := messageFiles(root, i.session)
	switch {
	case err != nil: // which is told of where the session is read
	case len(messages) == 0:
		return nil, nil
	default: // ids begin with a time
		data, _ := safefile.ReadIn(root, messages[0], maxFile)
		var first message
		first.decode(data)
		i.begun = first.created
	}
	return i, nil
}

func (t *tree) messages(ctx context.Context, session string, last int) (found []message, err error) {
	err = t.in(func(root *os.Root) error {
		all, err := messageFiles(root, session)
		if last >= 0 {
			all = all[max(0, len(all)-last):]
		}
		for _, file := range all {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			data, err := safefile.ReadIn(root, file, maxFile)
			if errors.Is(err, fs.ErrNotExist) {
				continue // deleted meanwhile
			}
			m := message{id: idOf(file)}
			if err == nil { // else it is told of as of no known role
				m.decode(data)
			}
			found = append(found, m)
		}
		return err
	})
	slices.SortStableFunc(found, func(a, b message) int { return cmp.Compare(a.created, b.created) })
	return found, err
}

func (t *tree) parts(ctx context.Context, message string) (p partsOf, err error) {
	err = t.in(func(root *os.Root) error {
		all, err := partFiles(root, message)
		for _, file := range all {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			raw, err := safefile.ReadIn(root, file, maxPart)
			var large *safefile.TooLargeError
			switch {
			case errors.As(err, &large):
				p.left++
			case err != nil:
				p.unread++
			default:
				p.add(idOf(file), raw)
			}
		}
		return err
	})
	return p, err
}

func (t *tree) version(ctx context.Context, session string) (version string, err error) {
	found, _, err := t.sessions(ctx, session)
	if err != nil || len(found) == 0 {
		return "", err
	}
	err = t.in(func(root *os.Root) error {
		all, err := messageFiles(root, session)
		for _, message := range slices.Clone(all) {
			parts, failed := partFiles(root, idOf(message))
			all, err = append(all, parts...), cmp.Or(err, failed, ctx.Err())
		}
		projects, failed := names(root, sessionDir, "")
		for _, project := range projects {
			all = append(all, path.Join(sessionDir, project, session+fileExtension))
		}
		var latest time.Time
		there := 0
		for _, file := range all {
			if info, err := root.Stat(file); err == nil {
				there++
				if info.ModTime().After(latest) {
					latest = info.ModTime()
				}
			}
		}
		version = fmt.Sprintf("%d %d", there, latest.UnixNano())
		return cmp.Or(err, failed)
	})
	return version, err
}
