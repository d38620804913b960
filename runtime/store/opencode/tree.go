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
	"github.com/convtools/convtools/runtime/store/internal/recorded"
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
	messagePrefix = "msg_"
	partPrefix    = "prt_"
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

// names returns the ids that the files in a folder are named after, in their order, and
// none where there is no folder. Those of a prefix that is empty are the names of folders.
func names(root *os.Root, dir, prefix string) ([]string, error) {
	var found []string
	entries, err := safefile.ReadDirIn(root, dir)
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), fileExtension)
		switch {
		case prefix == "" && e.IsDir():
			found = append(found, e.Name())
		case prefix != "" && ok && isID(name, prefix):
			found = append(found, name)
		}
	}
	slices.Sort(found)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return found, err
}

func fileOf(dir, id string) string { return path.Join(dir, id+fileExtension) }

func (t *tree) sessions(ctx context.Context) (all []*info, problems []store.Problem, err error) {
	err = t.in(func(root *os.Root) error {
		projects, err := names(root, sessionDir, "")
		for _, project := range projects {
			dir := path.Join(sessionDir, project)
			sessions, err := names(root, dir, sessionPrefix)
			if err != nil {
				problems = append(problems, history.Problem("", store.Unreadable, t.full(dir), err))
			}
			for _, session := range sessions {
				i, err := t.info(root, fileOf(dir, session), session)
				switch {
				case ctx.Err() != nil:
					return ctx.Err()
				case err != nil:
					problems = append(problems, history.Problem(id(session), store.BadMetadata, t.full(fileOf(dir, session)), err))
				case i != nil:
					all = append(all, i)
				}
			}
		}
		return err
	})
	return all, problems, err
}

func (t *tree) full(name string) string { return filepath.Join(t.dir, filepath.FromSlash(name)) }

var errNoObject = errors.New("it is no JSON object")

// info reads the file of a session. It returns nil where there is none, or where nothing is
// recorded in it.
func (t *tree) info(root *os.Root, file, session string) (*info, error) {
	data, err := safefile.ReadIn(root, file, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var parent, dir, title, undone, at []byte
	ok := jsontext.Read(data,
		jsontext.Text("parentID", &parent), jsontext.Text("directory", &dir), jsontext.Text("title", &title),
		jsontext.Value("revert", &undone), jsontext.Value("time", &at),
	)
	if !ok {
		return nil, errNoObject
	}
	if messages, err := names(root, path.Join(messageDir, session), messagePrefix); err == nil && len(messages) == 0 {
		return nil, nil // an error is told of where the session is read
	}
	return &info{
		source: t, session: session, parent: string(parent), dir: recorded.Unescape(dir), title: recorded.Unescape(title),
		revert: decodeRevert(undone), created: memberTime(at, "created"), archivedAt: memberTime(at, "archived"),
	}, nil
}

func (t *tree) find(_ context.Context, session string) (found *info, err error) {
	err = t.in(func(root *os.Root) error {
		projects, err := names(root, sessionDir, "")
		for _, project := range projects {
			file := fileOf(path.Join(sessionDir, project), session)
			if found, err = t.info(root, file, session); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			if found != nil {
				break
			}
		}
		return err
	})
	return found, err
}

func (t *tree) messages(ctx context.Context, session string, most int) (found []message, err error) {
	err = t.in(func(root *os.Root) error {
		dir := path.Join(messageDir, session)
		ids, err := names(root, dir, messagePrefix)
		// The ids begin with a time.
		if most > 0 {
			ids = ids[max(0, len(ids)-most):]
		} else if most < 0 {
			ids = ids[:min(len(ids), -most)]
		}
		for _, id := range ids {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			data, err := safefile.ReadIn(root, fileOf(dir, id), maxFile)
			if errors.Is(err, fs.ErrNotExist) {
				continue // deleted meanwhile
			}
			m := message{id: id}
			if err == nil { // else it is told of as of no known role
				m.decode(data)
			}
			found = append(found, m)
		}
		return err
	})
	slices.SortStableFunc(found, func(a, b message) int { return a.created.Compare(b.created) })
	return found, err
}

func (t *tree) parts(ctx context.Context, message string) (p partsOf, err error) {
	err = t.in(func(root *os.Root) error {
		dir := path.Join(partDir, message)
		ids, err := names(root, dir, partPrefix)
		for _, id := range ids {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			raw, err := safefile.ReadIn(root, fileOf(dir, id), maxPart)
			var large *safefile.TooLargeError
			switch {
			case errors.As(err, &large):
				p.left++
			case err != nil:
				p.unread++
			default:
				p.add(id, raw)
			}
		}
		return err
	})
	return p, err
}

func (t *tree) version(ctx context.Context, session string) (version string, err error) {
	if i, err := t.find(ctx, session); err != nil || i == nil {
		return "", err
	}
	err = t.in(func(root *os.Root) error {
		var latest time.Time
		files := 0
		look := func(dir, id string) {
			if info, err := root.Stat(fileOf(dir, id)); err == nil {
				files++
				if info.ModTime().After(latest) {
					latest = info.ModTime()
				}
			}
		}
		projects, err := names(root, sessionDir, "")
		for _, project := range projects {
			look(path.Join(sessionDir, project), session)
		}
		dir := path.Join(messageDir, session)
		messages, failed := names(root, dir, messagePrefix)
		err = cmp.Or(err, failed)
		for _, m := range messages {
			look(dir, m)
			parts, failed := names(root, path.Join(partDir, m), partPrefix)
			for _, p := range parts {
				look(path.Join(partDir, m), p)
			}
			err = cmp.Or(err, failed, ctx.Err())
		}
		version = fmt.Sprintf("%d %d", files, latest.UnixNano())
		return err
	})
	return version, err
}
