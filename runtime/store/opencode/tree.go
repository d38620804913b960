package opencode

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
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

func (*tree) retain() {}

func (*tree) release() {}

// names returns the ids that the files in a folder are named after, in their order, and
// none where there is no folder.
func names(root *os.Root, dir, prefix string) ([]string, error) {
	var found []string
	entries, err := readDir(root, dir)
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), fileExtension); ok && isID(name, prefix) {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return found, err
}

func readDir(root *os.Root, dir string) ([]fs.DirEntry, error) {
	entries, err := safefile.ReadDirIn(root, dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return entries, err
}

func fileOf(dir, id string) string { return path.Join(dir, id+fileExtension) }

// projects returns the folders of projects.
func (t *tree) projects(root *os.Root) ([]string, error) {
	var found []string
	entries, err := readDir(root, sessionDir)
	for _, e := range entries {
		if e.IsDir() {
			found = append(found, path.Join(sessionDir, e.Name()))
		}
	}
	slices.Sort(found)
	return found, err
}

func (t *tree) sessions(ctx context.Context) ([]*info, []store.Problem, error) {
	root, err := safefile.OpenDir(t.dir)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	projects, err := t.projects(root)
	if err != nil {
		return nil, nil, err
	}
	var all []*info
	var problems []store.Problem
	for _, dir := range projects {
		sessions, err := names(root, dir, sessionPrefix)
		if err != nil {
			problems = append(problems, history.Problem("", store.Unreadable, t.full(dir), err))
		}
		for _, session := range sessions {
			if ctx.Err() != nil {
				return nil, nil, ctx.Err()
			}
			i, err := t.info(root, fileOf(dir, session), session)
			switch {
			case errors.Is(err, fs.ErrNotExist): // deleted meanwhile
			case err != nil:
				problems = append(problems, history.Problem(id(session), store.BadMetadata, t.full(fileOf(dir, session)), err))
			case t.hasMessages(root, session):
				all = append(all, i)
			}
		}
	}
	return all, problems, nil
}

func (t *tree) full(name string) string { return filepath.Join(t.dir, filepath.FromSlash(name)) }

// hasMessages reports whether something is recorded in a session.
func (t *tree) hasMessages(root *os.Root, session string) bool {
	found, err := names(root, path.Join(messageDir, session), messagePrefix)
	return err != nil || len(found) > 0 // an error is told of where the session is read
}

var errNoObject = errors.New("it is no JSON object")

// info reads the file of a session.
func (t *tree) info(root *os.Root, file, session string) (*info, error) {
	data, err := safefile.ReadIn(root, file, maxFile)
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
	return &info{
		source: t, session: session, parent: string(parent), dir: recorded.Unescape(dir), title: recorded.Unescape(title),
		revert: decodeRevert(undone), created: memberTime(at, "created"), archivedAt: memberTime(at, "archived"),
	}, nil
}

func (t *tree) find(_ context.Context, session string) (*info, error) {
	root, err := safefile.OpenDir(t.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	projects, err := t.projects(root)
	if err != nil {
		return nil, err
	}
	for _, dir := range projects {
		i, err := t.info(root, fileOf(dir, session), session)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, fmt.Errorf("%s: %w", fileOf(dir, session), err)
		case t.hasMessages(root, session):
			return i, nil
		}
	}
	return nil, nil
}

func (t *tree) messages(ctx context.Context, session string, most int) ([]message, error) {
	root, err := safefile.OpenDir(t.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	dir := path.Join(messageDir, session)
	ids, err := names(root, dir, messagePrefix)
	if err != nil {
		return nil, err
	}
	if most > 0 && len(ids) > most {
		ids = ids[len(ids)-most:] // the ids begin with a time
	}
	var found []message
	for _, id := range ids {
		if ctx.Err() != nil {
			return nil, ctx.Err()
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
	slices.SortStableFunc(found, func(a, b message) int { return a.created.Compare(b.created) })
	return found, nil
}

func (t *tree) begin(_ context.Context, session string) (time.Time, error) {
	root, err := safefile.OpenDir(t.dir)
	if err != nil {
		return time.Time{}, err
	}
	defer root.Close()
	dir := path.Join(messageDir, session)
	ids, err := names(root, dir, messagePrefix)
	if err != nil || len(ids) == 0 {
		return time.Time{}, err
	}
	var m message
	if data, err := safefile.ReadIn(root, fileOf(dir, ids[0]), maxFile); err == nil {
		m.decode(data)
	}
	return m.created, nil
}

func (t *tree) parts(ctx context.Context, message string, buffer *store.Buffer) (_ []part, left, unread int, _ error) {
	root, err := safefile.OpenDir(t.dir)
	if err != nil {
		return nil, 0, 0, err
	}
	defer root.Close()
	dir := path.Join(partDir, message)
	ids, err := names(root, dir, partPrefix)
	if err != nil {
		return nil, 0, 0, err
	}
	var all []sized
	for _, id := range ids {
		p, err := measure(root, dir, id)
		if err == nil {
			all = append(all, p)
		}
	}
	unread = len(ids) - len(all)
	chosen, total, files, left := choose(all)
	if err := buffer.Reserve(ctx, max(total, jsonl.Chunk)); err != nil {
		return nil, 0, 0, err
	}
	var parts []part
	for _, p := range chosen {
		raw, err := readInto(root, fileOf(dir, p.id), p.size, buffer)
		if err != nil {
			unread++
			continue
		}
		parts = append(parts, part{id: p.id, raw: raw})
	}
	return ordered(append(parts, files...)), left, unread, nil
}

// measure looks at the file of a part.
func measure(root *os.Root, dir, id string) (sized, error) {
	f, info, err := safefile.OpenIn(root, fileOf(dir, id))
	if err != nil {
		return sized{}, err
	}
	defer f.Close()
	p := sized{id: id, size: int(min(info.Size(), maxPart+1))}
	if info.Size() > smallPart {
		begin := make([]byte, beginSize)
		n, err := f.ReadAt(begin, 0)
		if err != nil {
			return p, err
		}
		p.file = isFile(begin[:n])
	}
	return p, nil
}

// readInto appends the content of a file, which had a size, to a buffer.
func readInto(root *os.Root, file string, size int, buffer *store.Buffer) ([]byte, error) {
	f, _, err := safefile.OpenIn(root, file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	start := len(buffer.Bytes)
	to := buffer.Bytes[start : start+size]
	n, err := f.ReadAt(to, 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	buffer.Bytes = buffer.Bytes[:start+n]
	return to[:n], nil
}

func (t *tree) version(ctx context.Context, session string) (string, error) {
	root, err := safefile.OpenDir(t.dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	i, err := t.find(ctx, session)
	if err != nil || i == nil {
		return "", err
	}
	var latest time.Time
	files := 0
	look := func(file string) {
		if info, err := root.Stat(file); err == nil {
			files++
			if info.ModTime().After(latest) {
				latest = info.ModTime()
			}
		}
	}
	projects, err := t.projects(root)
	if err != nil {
		return "", err
	}
	for _, dir := range projects {
		look(fileOf(dir, session))
	}
	dir := path.Join(messageDir, session)
	messages, err := names(root, dir, messagePrefix)
	if err != nil {
		return "", err
	}
	for _, m := range messages {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		look(fileOf(dir, m))
		parts, err := names(root, path.Join(partDir, m), partPrefix)
		if err != nil {
			return "", err
		}
		for _, p := range parts {
			look(fileOf(path.Join(partDir, m), p))
		}
	}
	return fmt.Sprintf("%d %d", files, latest.UnixNano()), nil
}
