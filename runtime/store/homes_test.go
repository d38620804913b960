package store_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/cline"
	"github.com/convtools/convtools/runtime/store/copilot"
	"github.com/convtools/convtools/runtime/store/crush"
	"github.com/convtools/convtools/runtime/store/cursor"
	"github.com/convtools/convtools/runtime/store/goose"
	"github.com/convtools/convtools/runtime/store/internal/storetest"
	"github.com/convtools/convtools/runtime/store/opencode"
	"github.com/convtools/convtools/runtime/store/pi"
	"github.com/convtools/convtools/runtime/store/project"
	"github.com/convtools/convtools/runtime/store/qwen"
	"github.com/convtools/convtools/runtime/store/vscode"
	"github.com/convtools/convtools/runtime/store/zed"
)

// program is a program with a session.
type program struct {
	open     func(store.Options) (store.Store, bool)
	recorded string // the directory of a session that the program wrote, or ""
	content  string // of the file, or the statements that make the database
	file     string // the session or the database, below the home

	asRecorded, withDirectory, withLink string // the outcomes with the file, and with a directory or a link in its place
}

const uuid = "2c154aa7-742d-46ce-af44-de020dbaa17b"

func opener[S store.Store](open func(store.Options) (S, bool)) func(store.Options) (store.Store, bool) {
	return func(o store.Options) (store.Store, bool) { return open(o) }
}

var programs = map[string]program{
	"copilot": {opener(copilot.Open), "copilot/testdata", "", "session-state/596c8bea-f4b3-47dc-ab1d-eec248c0e993/events.jsonl", "1 conversations, 0 problems", "0 conversations, 1 problems", "0 conversations, 1 problems"},
	"qwen":    {opener(qwen.Open), "qwen/testdata", "", "projects/-home-mina-tides/chats/631cf6b2-cbbd-41ef-ae45-2cffb676d1c9.jsonl", "3 conversations, 0 problems", "2 conversations, 1 problems", "2 conversations, 1 problems"},
	"pi":      {opener(pi.Open), "pi/testdata", "", "sessions/--home-mina-tides--/2026-11-28T16-36-57-793Z_01a222da-0370-71dd-8a38-87fed5ea4df5.jsonl", "2 conversations, 0 problems", "1 conversations, 1 problems", "1 conversations, 1 problems"},
	"openclaw": {opener(pi.Open), "", `CREATE TABLE session_nodes (session_key TEXT, current_session_id TEXT, updated_at INTEGER, label TEXT, display_name TEXT, archived_at INTEGER, spawned_by TEXT, fork_source_session_id TEXT);
		CREATE TABLE session_windows (session_id TEXT, session_key TEXT, created_at INTEGER, updated_at INTEGER, transcript_updated_at INTEGER);
		CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, created_at INTEGER); CREATE INDEX events ON transcript_events (session_id, seq);
		CREATE TABLE session_transcript_index_state (session_id TEXT, indexed_seq INTEGER, needs_rebuild INTEGER);
		CREATE TABLE session_transcript_active_events (session_id TEXT, event_seq INTEGER); CREATE TABLE transcript_event_identities (session_id TEXT, event_id TEXT, seq INTEGER);
		INSERT INTO session_nodes (session_key, current_session_id, updated_at) VALUES ('agent:main:` + uuid + `', '` + uuid + `', 1777629600000);
		INSERT INTO session_windows (session_id, session_key, created_at, updated_at) VALUES ('` + uuid + `', 'agent:main:` + uuid + `', 1777629600000, 1777629600000);
		INSERT INTO transcript_events VALUES ('` + uuid + `', 0, '{"type":"session","cwd":"/home/mina/tides"}', 1777629600000),
		('` + uuid + `', 1, '{"type":"message","message":{"role":"user","content":"Hi"}}', 1777629600000)`, "agent/openclaw-agent.sqlite", "1 conversations, 0 problems", "0 conversations, 1 problems", "1 conversations, 0 problems"},
	"cline": {opener(cline.Open), "cline/testdata", "", "sessions/1795885680886_476m0/1795885680886_476m0.messages.json", "3 conversations, 0 problems", "2 conversations, 1 problems", "2 conversations, 1 problems"},
	"vscode": {
		opener(vscode.Open), "", `{"version":3,"creationDate":1777629600000,"requests":[{"timestamp":1777629600000,"message":{"text":"Hi"},"response":[{"value":"Hello"}]}]}`,
		"workspaceStorage/a1/chatSessions/" + uuid + ".json", "1 conversations, 0 problems", "0 conversations, 1 problems", "0 conversations, 1 problems",
	},
	"cursor": {opener(cursor.Open), "", `CREATE TABLE ItemTable (key TEXT, value BLOB); CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
		INSERT INTO ItemTable VALUES ('composer.composerHeaders', '{"allComposers":[{"composerId":"` + uuid + `","workspaceIdentifier":{"uri":{"scheme":"file","fsPath":"/home/mina/tides"}}}]}');
		INSERT INTO cursorDiskKV VALUES ('composerData:` + uuid + `', '{"name":"Tides","createdAt":1777629600000,"fullConversationHeadersOnly":[{"bubbleId":"a","type":1}]}'),
		('bubbleId:` + uuid + `:a', '{"type":1,"text":"Hi"}')`, "globalStorage/state.vscdb", "1 conversations, 0 problems", "error", "1 conversations, 0 problems"},
	"crush": {opener(crush.Open), "", `CREATE TABLE sessions (id TEXT, parent_session_id TEXT, title TEXT, updated_at INTEGER, created_at INTEGER, summary_message_id TEXT);
		CREATE TABLE messages (id TEXT, session_id TEXT, role TEXT, parts TEXT, created_at INTEGER, updated_at INTEGER, is_summary_message INTEGER);
		INSERT INTO sessions VALUES ('` + uuid + `', NULL, 'Tides', 1777629600, 1777629600, NULL);
		INSERT INTO messages VALUES ('m', '` + uuid + `', 'user', '[{"type":"text","data":{"text":"Hi"}}]', 1777629600, 1777629600, 0)`, ".crush/crush.db", "1 conversations, 0 problems", "no store", "no store"},
	"goose": {opener(goose.Open), "", `CREATE TABLE sessions (id TEXT, description TEXT, working_dir TEXT, created_at TIMESTAMP, updated_at TIMESTAMP);
		CREATE TABLE messages (id INTEGER, session_id TEXT, role TEXT, content_json TEXT, created_timestamp INTEGER);
		INSERT INTO sessions VALUES ('20260501_1', 'Tides', '/home/mina/tides', '2026-05-01 10:00:00', '2026-05-01 10:00:00');
		INSERT INTO messages VALUES (1, '20260501_1', 'user', '[{"type":"text","text":"Hi"}]', 1777629600)`, "sessions/sessions.db", "1 conversations, 0 problems", "error", "1 conversations, 0 problems"},
	"zed": {opener(zed.Open), "", `CREATE TABLE threads (id TEXT, summary TEXT, updated_at TEXT, data_type TEXT, data BLOB);
		INSERT INTO threads VALUES ('` + uuid + `', 'Tides', '2026-05-01T10:00:00Z', 'json', '{"title":"Tides","messages":[{"User":{"content":[{"Text":"Hi"}]}}]}')`, "threads/threads.db", "1 conversations, 0 problems", "error", "1 conversations, 0 problems"},
	"kilo": {opener(opencode.Kilo.Open), "", `CREATE TABLE session (id TEXT, parent_id TEXT, directory TEXT, title TEXT, revert TEXT, time_created INTEGER, time_updated INTEGER, time_archived INTEGER);
		CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT); CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, data TEXT);
		INSERT INTO session VALUES ('ses_000000000001AbC', NULL, '/home/mina/tides', 'Tides', NULL, 1777629600000, 1777629600000, NULL);
		INSERT INTO message VALUES ('msg_000000000001AbC', 'ses_000000000001AbC', 1777629600000, '{"role":"user"}');
		INSERT INTO part VALUES ('prt_000001000001AbC', 'msg_000000000001AbC', 'ses_000000000001AbC', '{"type":"text","text":"Hi"}')`, "kilo.db", "1 conversations, 0 problems", "no store", "1 conversations, 0 problems"},
}

// home makes a home of the program.
func (p program) home(t *testing.T) string {
	home := t.TempDir()
	file := filepath.Join(home, p.file)
	err := os.MkdirAll(filepath.Dir(file), 0o755)
	switch {
	case p.recorded != "":
		err = os.CopyFS(home, os.DirFS(p.recorded))
	case strings.HasPrefix(p.content, "CREATE"):
		storetest.Database(t, file, []any{p.content}) // open, with a log
		projects := storetest.Object(map[string]any{"projects": []any{map[string]any{"path": home, "data_dir": filepath.Dir(file)}}})
		err = os.WriteFile(filepath.Join(home, "projects.json"), []byte(projects), 0o600) // for Crush
	case err == nil:
		err = os.WriteFile(file, []byte(p.content), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return home
}

// state describes each file and directory of a home: its name, mode and size, and when it changed.
func state(t *testing.T, home string) (lines []string) {
	err := filepath.WalkDir(home, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil {
			lines = append(lines, fmt.Sprintln(name, info.Mode(), info.Size(), info.ModTime().UnixNano()))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// outcome is how many conversations and problems the store of a home has, or the error of listing them.
func (p program) outcome(t *testing.T, home string) string {
	s, ok := p.open(store.Options{Home: home, Project: project.New(project.Options{All: true})})
	if !ok {
		return "no store"
	}
	listing, err := s.List(t.Context(), store.Scope{Set: store.Live | store.Archived})
	if err != nil {
		return "error"
	}
	defer listing.Close()
	for _, c := range listing.Conversations {
		if storetest.Said(t, c) == "" {
			t.Errorf("%s says nothing", c.ID)
		}
	}
	return fmt.Sprintf("%d conversations, %d problems", len(listing.Conversations), len(listing.Problems))
}

// Reading changes nothing in a home. A directory in the place of a session is a problem, or no store if there is no
// other session. A link to a file outside the home is not followed, except one to a database; Crush's are not
// either.
func TestHomes(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a database that is open cannot be replaced")
	}
	for name, p := range programs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outside := p.home(t)
			for want, replace := range map[*string]func(file string) error{
				&p.asRecorded:    nil,
				&p.withDirectory: func(file string) error { return os.Mkdir(file, 0o755) },
				&p.withLink:      func(file string) error { return os.Symlink(filepath.Join(outside, p.file), file) },
			} {
				home := p.home(t)
				if file := filepath.Join(home, p.file); replace != nil {
					for _, suffix := range []string{"", "-wal", "-shm"} {
						_ = os.Remove(file + suffix) // there need be no log
					}
					if err := replace(file); err != nil {
						t.Fatal(err)
					}
				}
				before := append(state(t, home), state(t, outside)...)
				if got := p.outcome(t, home); got != *want {
					t.Errorf("%s, want %s", got, *want)
				}
				if diff := cmp.Diff(before, append(state(t, home), state(t, outside)...)); diff != "" {
					t.Errorf("the home changed (-before +after)\n%s", diff)
				}
			}
		})
	}
}
