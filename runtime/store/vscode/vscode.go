// Package vscode reads the chats, such as those with GitHub Copilot, that VS Code recorded for a project. The
// form is that of the sources of 2025 and 2026; no version was run here.
//
// A chat is a file in workspaceStorage/HASH/chatSessions in the directory User of VS Code, or in
// globalStorage/emptyWindowChatSessions for a window without a folder. User is in ~/.config/Code, on macOS in
// ~/Library/Application Support/Code, on Windows in %APPDATA%\Code, and on a machine that a window is connected to,
// such as WSL, in ~/.vscode-server/data. Insiders and VSCodium have directories of their own. The file workspace.json
// beside the chats names their project; one of an empty window belongs to none.
//
// Versions before 1.109 write a JSON object, later ones a log of changes to that object, which grows by lines
// and is sometimes written anew. There are no links of forks, and what a sub-agent does is a part of the chat.
// Requests that the user took back stay in the file, and are left out. What VS Code adds to a request, such
// as files and instructions, is recorded beside the text, and left out.
package vscode

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/jsontext"
)

// Name is the name of this kind of store.
const Name = "vscode"

// Store has the conversations of a project. It implements [store.Store].
type Store struct{ history.Store }

const (
	workspacesDir, chatsDir = "workspaceStorage", "chatSessions"
	emptyDir                = "globalStorage/emptyWindowChatSessions"
	aboutFile, maxAbout     = "workspace.json", 1 << 20
	maxFile                 = 256 << 20 // bytes of a chat that is read
)

// Open returns the store, and false if VS Code has recorded nothing.
func Open(o store.Options) (*Store, bool) {
	s, _ := history.Open(o, Name, Homes(o.Env())[0], "", IDs())
	return &Store{s}, s.Dir != "" && store.IsThere(filepath.Join(s.Dir, workspacesDir))
}

// Homes returns the directories User of VS Code and its variants. An element is "" if the environment does not name it.
func Homes(getenv func(string) string) []string {
	var homes []string
	for _, variant := range []string{"Code", "Code - Insiders", "VSCodium"} {
		homes = append(homes, history.InSettings(getenv, variant, "User"))
	}
	for _, server := range []string{".vscode-server", ".vscode-server-insiders"} {
		homes = append(homes, history.InHome(getenv, server, "data", "User"))
	}
	return homes
}

// IDs returns the form of ids: the id of a chat, a uuid.
func IDs() *history.IDs {
	return &history.IDs{Prefix: "vscode-", Session: history.IsName, Example: "vscode-2c154aa7-742d-46ce-af44-de020dbaa17b"}
}

// entry is the file of a chat.
type entry struct {
	history.Entry[history.Session]
	dir   string // of the project; empty if there is none
	isLog bool   // the file is a log of changes
}

// entries returns the files of the project's chats, and problems for the directories that cannot be read. The files are
// workspaceStorage/HASH/chatSessions/ID.jsonl or ID.json, and HASH/workspace.json has the directory of their project.
// Chats without a project are in globalStorage/emptyWindowChatSessions.
func (s *Store) entries(root *history.Root) (all []*entry, problems []store.Problem) {
	projects := map[string]string{}  // the directories of projects, by workspaceStorage/HASH
	enter := func(dir string) bool { // whether the files in a directory are looked at
		if isHash := path.Dir(dir) == workspacesDir; !isHash {
			return path.Base(dir) == chatsDir
		}
		about, _ := root.ReadFile(dir+"/"+aboutFile, maxAbout) // the file need not exist
		projects[dir] = history.WorkspaceDir(about)
		return s.Project.Has(projects[dir])
	}
	files, problems := s.Walk(root, workspacesDir, enter)
	if s.Project.Has("") { // chats without a project are wanted
		more, unread := s.Walk(root, emptyDir, nil)
		files, problems = append(files, more...), append(problems, unread...)
	}
	for _, file := range files {
		parent, name := path.Split(file)
		session, extension, _ := strings.Cut(name, ".")
		isChat := parent == emptyDir+"/" || strings.HasSuffix(parent, "/"+chatsDir+"/")
		if isChat && (extension == "json" || extension == "jsonl") && history.IsName(session) {
			e := &entry{dir: projects[path.Dir(path.Dir(file))], isLog: extension == "jsonl"} // of workspaceStorage/HASH
			e.File, e.ID = file, IDs().ID(session, "")
			all = append(all, e)
		}
	}
	return all, problems
}

// List implements [store.Store]. If a chat is in several files, it lists the chat of a project rather than the original
// in an empty window, and then a log rather than an object.
func (s *Store) List(ctx context.Context, scope store.Scope) (*store.Listing, error) {
	return history.ListFiles(ctx, &s.Store, scope, s.entries, func(a, b *entry) int { // the first file counts
		return cmp.Or(history.CompareBool(a.dir == "", b.dir == ""), history.CompareBool(!a.isLog, !b.isLog)) // false is first
	}, nil)
}

// Peek implements [history.Listed].
func (e *entry) Peek(ctx context.Context, _ *history.Root, f *os.File, size int64) (dir string, err error) {
	to, m := &history.Recorder{}, &e.Meta
	c, err := e.record(ctx, f, size, to)
	m.Note(to)
	m.Title, m.Created, m.Dir = strings.ToValidUTF8(c.Title, "\ufffd"), history.Moment(c.Created), e.dir
	return e.dir, err
}

// Decode implements [history.File]: it adds the events of the chat to a recorder.
func (e *entry) Decode(ctx context.Context, root *history.Root, to *history.Recorder) error {
	f, size, err := root.File(e.File)
	if err == nil {
		defer f.Close()
		_, err = e.record(ctx, f, size, to)
	}
	return err
}

// record adds the events of the chat in an open file to a recorder, and returns the chat. Damaged lines and
// objects count as skipped.
func (e *entry) record(ctx context.Context, f io.ReaderAt, size int64, to *history.Recorder) (c chat, err error) {
	if size > maxFile {
		return c, &safefile.TooLargeError{Most: maxFile}
	}
	var data []byte
	if e.isLog {
		var log changes
		err = to.LinesOf(ctx, f, size, func(line []byte, _ int64) bool { return log.apply(line) })
		data, _ = json.Marshal(log.state) // no error: the state was decoded from JSON; data is "null" for a nil state
	} else {
		data, err = io.ReadAll(io.NewSectionReader(f, 0, size))
		data = bytes.TrimSpace(data)
	}
	if isEmpty := len(data) == 0 || string(data) == "null"; !jsontext.Decode(data, &c) && !isEmpty { // an empty chat has lost nothing
		to.Totals.Skipped++
	}
	if err == nil {
		c.record(to)
	}
	return c, err
}
