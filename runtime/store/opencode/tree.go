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
	"time"

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

func (t *tree) path() string { return t.Dir }

func (*tree) Retain() {}

func (*tree) Release() {}

// idOf returns the id that a file is named after.
func idOf(file string) string { return strings.TrimSuffix(path.Base(file), fileExtension) }

// files returns the files of messages or parts in a folder, in the order of their ids, which begin with a
// time; none where there is no folder.
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
	root, err := t.Open()
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	found, problems, err := t.Walk(root, sessionDir, func(dir string) bool { return path.Dir(dir) == sessionDir })
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	for _, file := range found {
		is, isFile := strings.CutSuffix(path.Base(file), fileExtension)
		if !isFile || !isSession(is) || session != "" && session != is {
			continue
		}
		i, failed := t.info(root, file)
		switch {
		case failed != nil:
			problems = append(problems, t.Problem(id(is), store.BadMetadata, file, failed))
		case i != nil:
			all = append(all, i)
		}
	}
	return all, problems, cmp.Or(ctx.Err(), err)
}

var errNoObject = errors.New("it is no JSON object")

// info reads the file of a session. It returns nil where there is none, or where nothing is
// recorded in it.
func (t *tree) info(root *history.Root, file string) (*info, error) {
	data, err := root.ReadFile(file, maxFile)
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
	i := &info{source: t, file: file, session: idOf(file), parent: from.Parent, dir: from.Dir, title: from.Title, revert: from.Revert, times: from.Time}
	messages, err := messageFiles(root, i.session)
	switch {
	case err != nil: // which is told of where the session is read
	case len(messages) == 0:
		return nil, nil
	default:
		i.begun = readMessage(root, messages[0]).created
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
	root, err := t.Open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	all, err := messageFiles(root, session)
	if last >= 0 {
		all = all[max(0, len(all)-last):]
	}
	for i := 0; i < len(all) && ctx.Err() == nil; i++ {
		found = append(found, readMessage(root, all[i]))
	}
	slices.SortStableFunc(found, func(a, b message) int { return cmp.Compare(a.created, b.created) })
	return found, cmp.Or(ctx.Err(), err)
}

func (t *tree) parts(ctx context.Context, message string) (p partsOf, err error) {
	root, err := t.Open()
	if err != nil {
		return p, err
	}
	defer root.Close()
	all, err := partFiles(root, message)
	for i := 0; i < len(all) && ctx.Err() == nil; i++ {
		raw, failed := root.ReadFile(all[i], maxPart)
		var large *safefile.TooLargeError
		switch {
		case errors.As(failed, &large):
			p.left++
		case failed != nil:
			p.unread++
		default:
			p.add(idOf(all[i]), raw)
		}
	}
	return p, cmp.Or(ctx.Err(), err)
}

func (t *tree) version(ctx context.Context, session string) (string, error) {
	found, _, err := t.sessions(ctx, session)
	if err != nil || len(found) == 0 {
		return "", err
	}
	root, err := t.Open()
	if err != nil {
		return "", err
	}
	defer root.Close()
	messages, err := messageFiles(root, session)
	all := append([]string{found[0].file}, messages...)
	for _, message := range messages {
		parts, failed := partFiles(root, idOf(message))
		all, err = append(all, parts...), cmp.Or(err, failed, ctx.Err())
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
	return fmt.Sprintf("%d %d", there, latest.UnixNano()), err
}

// newTree returns the tree in a home.
func newTree(home string) *tree {
	return &tree{history.Store{Kind: Name, Dir: filepath.Join(home, treeDir)}}
}
