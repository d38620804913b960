package conversations_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store/facts"
)

// TestMaxRead lists sessions of which nothing may be read to count what is in them: they are
// uncounted until they were counted without a bound, in another process too.
func TestMaxRead(t *testing.T) {
	t.Parallel()
	needStamps(t)
	dir, home, cache := t.TempDir(), t.TempDir(), t.TempDir()
	env := map[string]string{
		"CLAUDE_CONFIG_DIR": filepath.Join(home, "claude"), "CODEX_HOME": filepath.Join(home, "codex"),
		"XDG_DATA_HOME": filepath.Join(home, "data"), "GEMINI_CLI_HOME": home,
	}
	writeHistories(t, dir, env)
	sum := sha256.Sum256([]byte(dir))
	chats := filepath.Join(home, ".gemini", "tmp", hex.EncodeToString(sum[:]), "chats")
	if err := os.MkdirAll(chats, 0o700); err != nil {
		t.Fatal(err)
	}
	log := `{"sessionId":"00000009-0000-4000-8000-000000000001","startTime":"2026-06-01T10:00:00.000Z"}
{"id":"1","timestamp":"2026-06-01T10:00:01.000Z","type":"user","content":[{"text":"Why do we retry?"}]}
`
	if err := os.WriteFile(filepath.Join(chats, "session-2026-06-01T10-00-00000009.jsonl"), []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	list := func(maxRead int64) []conversations.Listed {
		t.Helper()
		o := conversations.Options{Dir: dir, Getenv: func(name string) string { return env[name] }, Indexes: conversations.NewIndexes(t.TempDir(), nil)}
		o.Indexes.SetFacts(cache, facts.Options{Now: later, Least: 1})
		l, err := conversations.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		listing, err := l.List(t.Context(), conversations.ListQuery{Filter: conversations.Filter{Hidden: true}, Sort: conversations.ByID, Sizes: true, MaxRead: maxRead})
		if err != nil {
			t.Fatal(err)
		}
		return listing.Conversations
	}
	uncounted := map[string]int{}
	for _, c := range list(1) {
		want := c.Source != "convtools" // whose logs have several conversations
		if got := c.Uncounted && c.Events < 0 && c.Size == nil; got != want || c.Uncounted != want {
			t.Errorf("%s: %+v", c.ID, c)
		}
		if want {
			uncounted[c.Source]++
		}
	}
	for _, source := range []string{"claude-code", "codex", "gemini"} {
		if uncounted[source] == 0 {
			t.Errorf("nothing is left uncounted of %s", source)
		}
	}
	within := list(64 << 10)
	for _, c := range within {
		if c.Uncounted || c.Events <= 0 || c.Size == nil {
			t.Errorf("within the bound: %s: %+v", c.ID, c)
		}
	}
	if diff := gocmp.Diff(within, list(1)); diff != "" {
		t.Errorf("once it was counted (-then +later):\n%s", diff)
	}
}
