package conversations_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

const (
	claudeID = "claude-5afd8764-1e4a-4af6-951b-d71a909fd1bc"
	forkID   = "claude-6afd8764-1e4a-4af6-951b-d71a909fd1bc"
	codexID  = "codex-01a1ffd7-7b57-7ca0-9fa0-3b693e56b89f"
)

// machine is a home directory with what other programs recorded for a project.
func machine(t *testing.T, project string) map[string]string {
	t.Helper()
	home := t.TempDir()
	write := func(name string, lines ...string) {
		t.Helper()
		name = filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	folder := strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' {
			return r
		}
		return '-'
	}, project)
	said := func(n, second int, text string) string {
		return fmt.Sprintf(`{"type":"user","uuid":"00000000-0000-4000-8000-%012d","parentUuid":"00000000-0000-4000-8000-%012d","timestamp":"2026-05-01T00:00:%02dZ","cwd":%q,"message":{"content":%q}}`,
			n, n-1, second, project, text)
	}
	session := func(id string) string {
		return ".claude/projects/" + folder + "/" + strings.TrimPrefix(id, "claude-") + ".jsonl"
	}
	write(session(claudeID), said(1, 1, "how often is a retry"), said(2, 5, "said in the session"))
	write(session(forkID), said(1, 1, "how often is a retry"), said(3, 9, "said in the fork"))
	write(".codex/sessions/2026/05/01/rollout-2026-05-01T00-00-00-"+strings.TrimPrefix(codexID, "codex-")+".jsonl",
		fmt.Sprintf(`{"timestamp":"2026-05-01T00:00:03Z","type":"session_meta","payload":{"id":%q,"timestamp":"2026-05-01T00:00:00Z","cwd":%q}}`, strings.TrimPrefix(codexID, "codex-"), project),
		`{"timestamp":"2026-05-01T00:00:07Z","type":"event_msg","payload":{"type":"user_message","message":"a retry in the thread"}}`)
	return map[string]string{"HOME": home, "USERPROFILE": home}
}

func openAt(t *testing.T, dir string, values map[string]string) (*conversations.Library, error) {
	t.Helper()
	return conversations.Open(conversations.Options{Dir: dir, Now: now, Getenv: func(name string) string { return values[name] }})
}

func realDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// Without a JP workspace there is what other programs recorded, and nothing else is an
// error.
func TestSessionsWithoutWorkspace(t *testing.T) {
	t.Parallel()
	project := realDir(t)
	values := machine(t, project)
	l, err := openAt(t, project, values)
	if err != nil {
		t.Fatal(err)
	}
	listing, err := l.List(t.Context(), conversations.ListQuery{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range listing.Conversations {
		got = append(got, fmt.Sprintf("%s %s %d %s", c.ID, c.Source, c.Events, c.LastEventAt.Format("05")))
	}
	want := []string{forkID + " claude-code 2 09", codexID + " codex 1 07", claudeID + " claude-code 2 05"}
	if diff := cmp.Diff(want, got); diff != "" || len(listing.Problems) > 0 {
		t.Error(diff, listing.Problems)
	}
	var nowhere *conversations.NoWorkspaceError
	elsewhere, err := openAt(t, realDir(t), values)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := elsewhere.List(t.Context(), conversations.ListQuery{}); !errors.As(err, &nowhere) {
		t.Errorf("in another directory: %v", err)
	}
	if _, _, err := elsewhere.Read(t.Context(), conversations.ReadQuery{ID: claudeID}); !errors.As(err, &nowhere) {
		t.Errorf("in another directory: %v", err)
	}
	if _, err := openAt(t, realDir(t), nil); !errors.As(err, &nowhere) {
		t.Errorf("on another machine: %v", err)
	}
}

// Sources narrow a query, also one that names conversations.
func TestSources(t *testing.T) {
	t.Parallel()
	project := realDir(t)
	l, err := openAt(t, project, machine(t, project))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		filter conversations.Filter
		want   []transcript.ID
	}{
		{conversations.Filter{}, []transcript.ID{codexID, claudeID, forkID}},
		{conversations.Filter{Sources: []string{"codex"}}, []transcript.ID{codexID}},
		{conversations.Filter{Sources: []string{"codex", "claude-code"}}, []transcript.ID{codexID, claudeID, forkID}},
		{conversations.Filter{Sources: []string{"jp"}}, nil},
		{conversations.Filter{Sources: []string{"codex"}, IDs: []string{claudeID, codexID}}, []transcript.ID{codexID}},
		{conversations.Filter{Sources: []string{"jp"}, IDs: []string{claudeID}}, nil},
	} {
		listing, err := l.List(t.Context(), conversations.ListQuery{Filter: test.filter, Sort: conversations.ByID, Ascending: true})
		var got []transcript.ID
		for _, c := range listing.Conversations {
			got = append(got, c.ID)
		}
		if !slices.Equal(got, test.want) || err != nil {
			t.Errorf("%+v: %v, %v", test.filter, got, err)
		}
	}
}

// What was copied when a session was forked is found once, and is
// there when one of them is named.
func TestCopiedIsFoundOnce(t *testing.T) {
	t.Parallel()
	project := realDir(t)
	l, err := openAt(t, project, machine(t, project))
	if err != nil {
		t.Fatal(err)
	}
	find := func(q conversations.SearchQuery, ids []string) (found []string) {
		q.IDs, q.Pattern, q.Scopes = ids, literal(t, "retry", false), transcript.ScopeUser
		r, err := l.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range r.Hits {
			found = append(found, string(h.Conversation.ID))
		}
		slices.Sort(found)
		return found
	}
	byConversation := func(ids ...string) []string { return find(conversations.SearchQuery{}, ids) }
	for name, search := range map[string]func(...string) []string{"by conversation": byConversation} {
		all := search()
		if diff := cmp.Diff([]string{claudeID, codexID}, all); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if diff := cmp.Diff([]string{forkID}, search(forkID)); diff != "" {
			t.Errorf("%s in the fork: %s", name, diff)
		}
	}
	ranking, err := l.Search(t.Context(), conversations.SearchQuery{Order: conversations.Relevance, Filter: conversations.Filter{IDs: []string{forkID}}, Question: "retries", Limit: 3, MaxText: 100, MaxWide: 100})
	if err != nil || len(ranking.Conversations) != 1 || len(ranking.Hits) == 0 || ranking.Hits[0].Text != "how often is a retry" {
		t.Errorf("ranked in the fork: %+v, %v", ranking, err)
	}
	var read []string
	_, err = readEach(t.Context(), l, conversations.ReadQuery{ID: forkID}, func(e *conversations.Event) error {
		read = append(read, string(e.Body()))
		return nil
	})
	if diff := cmp.Diff([]string{"how often is a retry", "said in the fork"}, read); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

// A store that cannot be read is a note, and hides nothing of the others.
func TestUnreadableSessions(t *testing.T) {
	t.Parallel()
	project := realDir(t)
	values := machine(t, project)
	l, err := openAt(t, project, values)
	if err != nil {
		t.Fatal(err)
	}
	projects := filepath.Join(values["HOME"], ".claude", "projects")
	if err := os.RemoveAll(projects); err != nil {
		t.Fatal(err)
	}
	listing, err := l.List(t.Context(), conversations.ListQuery{})
	if err != nil || len(listing.Conversations) != 1 || len(listing.Problems) != 1 || listing.Problems[0].Path != projects {
		t.Errorf("%+v, %v", listing, err)
	}
}

func TestParseIDOfAnyStore(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		claudeID:                               claudeID,
		codexID:                                codexID,
		"5AFD8764-1e4a-4af6-951b-d71a909fd1bc": claudeID,
		"01a1ffd7-7b57-7ca0-9fa0-3b693e56b89f": codexID,
		"12345678-1e4a-4af6-951b-d71a909fd1bc": "claude-12345678-1e4a-4af6-951b-d71a909fd1bc",
		"jp-c17800836875":                      "jp-c17800836875",
		"17800836875-a-title":                  "jp-c17800836875",
		"claude-17800836875":                   "",
		"codex-17800836875":                    "",
		"-":                                    "",
	} {
		got, err := conversations.ParseID(text)
		var bad *conversations.BadIDError
		if string(got) != want || (want == "") != errors.As(err, &bad) {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
}
