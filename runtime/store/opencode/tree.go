package opencode

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/jsontext"
)

// tree is the files that versions before 1.2 kept: one for each session, message and
// part. It implements [source], and holds no open files.
type tree struct{ history.Store }

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

// newTree returns the tree in a home.
func newTree(home string) *tree {
	return &tree{history.Store{Kind: Name, Dir: filepath.Join(home, treeDir)}}
}

func (t *tree) path() string { return t.Dir }

func (*tree) Retain() {}

func (*tree) Release() {}

// in does something with the opened tree.
func (t *tree) in(ctx context.Context, do func(root *history.Root) error) error {
	root, err := t.Open()
	if err != nil {
		return err
	}
	defer root.Close()
	return cmp.Or(do(root), ctx.Err())
}

// idOf returns the id that a file is named after.
func idOf(file string) string { return strings.TrimSuffix(path.Base(file), fileExtension) }

// files returns the files in a folder that are named after ids with a prefix, in the order of these,
// which begin with a time; none where there is no folder.
func files(root *history.Root, dir, prefix string) (found []string, err error) {
	entries, err := root.ReadDir(dir)
	for _, e := range entries {
		if id, isFile := strings.CutSuffix(e.Name(), fileExtension); isFile && !e.IsDir() && isID(id, prefix) {
			found = append(found, path.Join(dir, e.Name()))
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return found, err
}

func messageFiles(root *history.Root, session string) ([]string, error) {
	return files(root, path.Join(messageDir, session), "msg_")
}

func partFiles(root *history.Root, message string) ([]string, error) {
	return files(root, path.Join(partDir, message), "prt_")
}

func (t *tree) sessions(ctx context.Context, session string) (all []*info, problems []store.Problem, err error) {
	err = t.in(ctx, func(root *history.Root) error {
		found, unread := t.Walk(root, sessionDir, func(dir string) bool { return path.Dir(dir) == sessionDir })
		problems = unread
		for _, file := range found {
			is := idOf(file)
			if !strings.HasSuffix(file, fileExtension) || !isSession(is) || session != "" && session != is {
				continue
			}
			i, failed := t.info(root, file)
			if failed != nil && !errors.Is(failed, fs.ErrNotExist) {
				problems = append(problems, t.Problem(id(is), store.BadMetadata, file, failed))
			}
			if i != nil {
				all = append(all, i)
			}
		}
		return nil
	})
	return all, problems, err
}

var errNoObject = errors.New("it is no JSON object")

// info reads the file of a session. It returns nil where nothing is recorded in it.
func (t *tree) info(root *history.Root, file string) (*info, error) {
	i := &info{source: t, file: file, session: idOf(file)}
	data, err := root.ReadFile(file, maxFile)
	if err == nil && !jsontext.Decode(data, i) {
		err = errNoObject
	}
	if err != nil {
		return nil, err
	}
	messages, err := messageFiles(root, i.session)
	if err == nil && len(messages) > 0 {
		i.begun = readMessage(root, messages[0]).created
	} else if err == nil { // else it is told of where the session is read
		return nil, nil
	}
	return i, nil
}

// readMessage reads the file of a message. One that cannot be read is of no known role.
func readMessage(root *history.Root, file string) message {
	m := message{id: idOf(file)}
	if data, err := root.ReadFile(file, maxFile); err == nil {
		m.decode(data)
	}
	return m
}

func (t *tree) messages(ctx context.Context, session string, last int) (found []message, err error) {
	err = t.in(ctx, func(root *history.Root) error {
		all, err := messageFiles(root, session)
		if last >= 0 {
			all = all[max(0, len(all)-last):]
		}
		for i := 0; i < len(all) && ctx.Err() == nil; i++ {
			found = append(found, readMessage(root, all[i]))
		}
		return err
	})
	slices.SortStableFunc(found, func(a, b message) int { return cmp.Compare(a.created, b.created) })
	return found, err
}

func (t *tree) parts(ctx context.Context, message string) (p partsOf, err error) {
	err = t.in(ctx, func(root *history.Root) error {
		all, err := partFiles(root, message)
		for i := 0; i < len(all) && ctx.Err() == nil; i++ {
			raw, failed := root.ReadFile(all[i], maxPart)
			var large *safefile.TooLargeError
			if failed != nil && !errors.As(failed, &large) {
				raw = []byte{} // which is damaged
			}
			p.add(idOf(all[i]), raw)
		}
		return err
	})
	return p, err
}

// version returns how many files of a session there are, and when the last one was modified.
func (t *tree) version(ctx context.Context, session string) (version string, err error) {
	found, _, err := t.sessions(ctx, session)
	if err != nil || len(found) == 0 {
		return "", err
	}
	err = t.in(ctx, func(root *history.Root) error {
		messages, err := messageFiles(root, session)
		all := append([]string{found[0].file}, messages...)
		for _, message := range messages {
			parts, failed := partFiles(root, idOf(message))
			all, err = append(all, parts...), cmp.Or(err, failed, ctx.Err())
		}
		latest := int64(0)
		for _, file := range all {
			latest = max(latest, root.Stamp(file).Modified())
		}
		version = fmt.Sprintf("%d %d", len(all), latest)
		return err
	})
	return version, err
}
