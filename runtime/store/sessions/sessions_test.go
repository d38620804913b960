package sessions_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/storetest"
	"github.com/convtools/convtools/runtime/store/project"
	"github.com/convtools/convtools/runtime/store/sessions"
	"github.com/convtools/convtools/runtime/transcript"
)

const (
	session = "5f0c7a52-5c2e-4a0b-9d53-0d6f6a2b9c11"
	other   = "7b1d3a52-5c2e-4a0b-9d53-0d6f6a2b9c12"
	child   = "9f4ad2a0-2f52-4f80-8fae-6ec4b4d2b7aa"
)

// log is that of a session with two conversations. DIR is where it works, and SETTINGS what else is set.
const log = `{"format":"convtools-session","version":2}
{"crc32c":"00000000","events":[{"seq":1,"ts":"2026-05-01T10:00:00.000Z","session_id":"S","conversation_id":"","task_id":0,"type":"session_started","config":{}},{"seq":2,"ts":"2026-05-01T10:00:00.000Z","session_id":"S","conversation_id":"5f0c7a52-5c2e-4a0b-9d53-0d6f6a2b9c11","task_id":0,"type":"conversation_opened","context":{"settings":"{\"dir\":\"DIR\"SETTINGS}"}}]}
{"crc32c":"00000000","events":[{"seq":3,"ts":"2026-05-01T10:00:01.000Z","session_id":"S","conversation_id":"5f0c7a52-5c2e-4a0b-9d53-0d6f6a2b9c11","task_id":1,"type":"user_message","origin":"host","text":"for the model"},{"seq":4,"ts":"2026-05-01T10:00:01.000Z","session_id":"S","conversation_id":"5f0c7a52-5c2e-4a0b-9d53-0d6f6a2b9c11","task_id":1,"type":"user_message","origin":"user","text":[{"text":"Plan the trip"},{"image_url":"data:image/png;base64,AAAA"},{"image_url":"http://h/x.png"}]}]}
{"crc32c":"00000000","events":[{"seq":5,"ts":"2026-05-01T10:00:02.000Z","session_id":"S","conversation_id":"5f0c7a52-5c2e-4a0b-9d53-0d6f6a2b9c11","task_id":1,"type":"agent_message_delta","text":"I ask"}]}
{"crc32c":"00000000","events":[{"seq":6,"ts":"2026-05-01T10:00:03.000Z","session_id":"S","conversation_id":"5f0c7a52-5c2e-4a0b-9d53-0d6f6a2b9c11","task_id":1,"type":"agent_message","origin":"model","text":"I ask."},{"seq":7,"ts":"2026-05-01T10:00:03.000Z","session_id":"S","conversation_id":"5f0c7a52-5c2e-4a0b-9d53-0d6f6a2b9c11","task_id":1,"type":"tool_call","origin":"model","call_id":"a\"b","name":"conv_create","tool":"conv.create","arguments":"{\"user_instruction\":\"x\"}"},{"seq":8,"ts":"2026-05-01T10:00:03.000Z","session_id":"S","conversation_id":"9f4ad2a0-2f52-4f80-8fae-6ec4b4d2b7aa","task_id":0,"type":"conversation_opened","parent_id":"5f0c7a52-5c2e-4a0b-9d53-0d6f6a2b9c11","context":{"title":"Hotels","settings":"{\"dir\":\"DIR\"SETTINGS}"}},{"seq":9,"ts":"2026-05-01T10:00:03.000Z","session_id":"S","conversation_id":"9f4ad2a0-2f52-4f80-8fae-6ec4b4d2b7aa","task_id":2,"type":"user_message","origin":"conv","from":"5f0c7a52-5c2e-4a0b-9d53-0d6f6a2b9c11","text":"x"}]}
not JSON 9f4ad2a0-2f52-4f80-8fae-6ec4b4d2b7aa "type":""
{"crc32c":"00000000","events":[{"seq":10,"ts":"2026-05-01T10:00:04.000Z","session_id":"S","conversation_id":"9f4ad2a0-2f52-4f80-8fae-6ec4b4d2b7aa","task_id":2,"type":"agent_message","origin":"model","text":"The Adler."},{"seq":11,"ts":"2026-05-01T10:00:04.000Z","session_id":"S","conversation_id":"5f0c7a52-5c2e-4a0b-9d53-0d6f6a2b9c11","task_id":0,"type":"calls_closed","outputs":[{"origin":"tool","call_id":"a\"b","tool":"conv.create","content":"{\"ok\":false}","failed":true}]}]}
{"crc32c":"00000000","events":[{"seq":12,"ts":"2026-05-01T10:00:05.000Z","session_id":"S","conversation_id":"5f0c7a52-5c2e-4a0b-9d53-0d6f6a2b9c11","task_id":3,"type":"agent_message","origin":"model","text":"Half a li`

// write writes a log and returns the store.
func write(t *testing.T, logs map[string]string) (store.Store, string) {
	t.Helper()
	dir, home := t.TempDir(), t.TempDir()
	for id, text := range logs {
		text = strings.ReplaceAll(text, "DIR", strings.ReplaceAll(filepath.ToSlash(dir), `\`, `\\`))
		if err := os.WriteFile(filepath.Join(home, id+".jsonl"), []byte(strings.ReplaceAll(text, "SETTINGS", "")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, ok := sessions.Open(store.Options{Home: home, Project: project.New(project.Options{Dir: dir})})
	if !ok {
		t.Fatal("there are no sessions")
	}
	return s, dir
}

func TestSaid(t *testing.T) {
	t.Parallel()
	s, _ := write(t, map[string]string{session: log})
	all, problems := storetest.List(t, s, store.Live)
	if len(all) != 2 || len(problems) > 0 {
		t.Fatalf("%d conversations, problems %v", len(all), problems)
	}
	root, hotels := all[0], all[1]
	if root.ID != "convtools-"+session || !strings.HasPrefix(storetest.Called(root), "Plan the trip\n[image/png of ") || root.Parent != "" || root.Source != "convtools" {
		t.Errorf("%+v", root.Conversation)
	}
	if hotels.ID != "convtools-"+session+"."+child || hotels.Title != "Hotels" || hotels.Parent != root.ID {
		t.Errorf("%+v", hotels.Conversation)
	}
	if diff := cmp.Diff(`1 user: Plan the trip [image/png of 11 bytes] [http://h/x.png]
1 assistant: I ask.
1 tool_call conv.create: { "user_instruction": "x" }
1 tool_result conv.create failed: {"ok":false}
`, storetest.Said(t, root)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff("1 user: x\n1 assistant: The Adler.\n", storetest.Said(t, hotels)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	found, err := storetest.Find(t, s, hotels.ID)
	if err != nil || found.Title != "Hotels" {
		t.Errorf("%+v %v", found.Conversation, err)
	}
	for _, id := range []transcript.ID{"convtools-" + child, "convtools-" + other, "convtools-" + session + "." + session} {
		if _, err := storetest.Find(t, s, id); err == nil {
			t.Errorf("%s is found", id)
		}
	}
}

// Conversations that are recorded in a workspace, or by another program, are left out.
func TestRecordedElsewhere(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]int{`,\"jp\":true`: 0, `,\"outside\":true`: 1, `,\"hidden\":true`: 2} {
		s, _ := write(t, map[string]string{session: strings.ReplaceAll(log, "SETTINGS", settings)})
		all, _ := storetest.List(t, s, store.Live)
		if len(all) != want {
			t.Errorf("%s: %d conversations, want %d", settings, len(all), want)
		}
		for _, c := range all {
			if c.Hidden != strings.Contains(settings, "hidden") {
				t.Errorf("%s: hidden is %v", settings, c.Hidden)
			}
		}
	}
}

func TestOtherProject(t *testing.T) {
	t.Parallel()
	s, _ := write(t, map[string]string{session: strings.ReplaceAll(log, "DIR", "/elsewhere")})
	if all, _ := storetest.List(t, s, store.Live|store.Archived); len(all) > 0 {
		t.Errorf("%d conversations of another directory", len(all))
	}
}

func TestParseID(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]transcript.ID{
		"convtools-" + session:                                "convtools-" + session,
		"CONVTOOLS-" + strings.ToUpper(session) + "." + child: "convtools-" + session + "." + child,
		"convtools-":                 "",
		"convtools-../x":             "",
		"convtools-" + session + ".": "",
		session:                      "",
	} {
		if got, err := sessions.IDs().ParseID(text); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %s %v, want %q", text, got, err, want)
		}
	}
}

// A log can contain anything.
func FuzzLog(f *testing.F) {
	f.Add([]byte(strings.ReplaceAll(log, "SETTINGS", "")))
	f.Fuzz(func(t *testing.T, data []byte) {
		home := t.TempDir()
		if err := os.WriteFile(filepath.Join(home, session+".jsonl"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, ok := sessions.Open(store.Options{Home: home, Project: project.New(project.Options{All: true})})
		if !ok {
			t.Fatal("there are no sessions")
		}
		all, _ := storetest.List(t, s, store.Live)
		for _, c := range all {
			if _, err := storetest.Read(t.Context(), c); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestLongLine(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	file := filepath.Join(home, session+".jsonl")
	lines := strings.SplitAfterN(log, "\n", 4)[:3]
	text := strings.NewReplacer("DIR", strings.ReplaceAll(filepath.ToSlash(dir), `\`, `\\`), "SETTINGS", "").Replace(strings.Join(lines, ""))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, ok := sessions.Open(store.Options{Home: home, Project: project.New(project.Options{Dir: dir})})
	if !ok {
		t.Fatal("there are no sessions")
	}
	storetest.CheckLongLine(t, s, file)
}
