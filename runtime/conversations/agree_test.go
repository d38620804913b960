package conversations_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	basetext "github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/archive"
	"github.com/convtools/convtools/runtime/store/postgres"
	"github.com/convtools/convtools/runtime/store/postgres/postgrestest"
	"github.com/convtools/convtools/runtime/transcript"
)

// letters are those that texts and queries are made of: equal by folding, special in
// patterns, in bytes, in JSON, and in the store.
func letters() []string {
	return []string{
		"a", "A", "k", "K", "\u212a", "s", "S", "ſ", "ß", "ẞ", "i", "I", "İ", "ı", "σ", "ς", "Σ", "ο", "Ο", "ǅ", "Ǆ", "\u0345", "Ι",
		"東", "京", "é", "e\u0301", "%", "_", `\`, "'", `"`, "\x00", "\uffff", "\ufffe", " ", "\n", "0", "x",
	}
}

func text(most int) *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOfN(rapid.SampledFrom(letters()), 0, most), func(s []string) string { return strings.Join(s, "") })
}

func message() *rapid.Generator[archive.Message] {
	return rapid.Custom(func(t *rapid.T) archive.Message {
		m := archive.Message{
			Kind: rapid.SampledFrom([]transcript.Kind{
				transcript.KindUser, transcript.KindAssistant, transcript.KindReasoning, transcript.KindToolCall, transcript.KindToolResult, transcript.KindSystem,
			}).Draw(t, "kind"),
			Text: []byte(text(12).Draw(t, "text")), Active: true,
		}
		switch m.Kind {
		case transcript.KindToolCall:
			m.Name = rapid.SampledFrom([]string{"", "python", "own", "Ask\x00"}).Draw(t, "tool")
			m.Text = []byte(rapid.SampledFrom([]string{"", `{"a": "b\nk\u212a"}`, string(m.Text)}).Draw(t, "arguments"))
		case transcript.KindSystem:
			m.Name = rapid.SampledFrom([]string{"", "critic"}).Draw(t, "role")
		}
		if n := rapid.IntRange(0, 6).Draw(t, "time"); n > 0 {
			m.Time = noon().Add(time.Duration(n) * 500 * time.Microsecond)
		}
		return m
	})
}

// TestAgree holds three ways to answer against one another, to the letter: reading a file,
// its index, which may be behind, and a server.
func TestAgree(t *testing.T) {
	t.Parallel()
	for name, withServer := range map[string]bool{"the index as reading": false, "the server as both": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var server *archive.Writer
			role, url := "", ""
			clear := func() {}
			if withServer {
				cluster.Need(t)
				admin := postgrestest.Connect(t, cluster.Admin("archive"))
				role, url = cluster.Role(t)
				var err error
				if server, err = postgres.Create(t.Context(), url, false); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { server.Close() })
				clear = func() {
					if _, err := admin.Exec("DELETE FROM convtools.conversations WHERE owner = $1", role); err != nil {
						t.Fatal(err)
					}
				}
			}
			dir := t.TempDir()
			n := 0
			rapid.Check(t, func(r *rapid.T) {
				clear()
				n++
				agree(t, r, filepath.Join(dir, fmt.Sprint(n)), server, url)
			})
		})
	}
}

func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// agree compares answers about a random archive in a directory. server is nil for none.
func agree(t *testing.T, r *rapid.T, dir string, server *archive.Writer, url string) {
	t.Helper()
	x := conversations.NewIndexes(filepath.Join(dir, "index"))
	defer x.Close()
	put := func(least int) {
		t.Helper()
		file, err := archive.Create(t.Context(), dir, false)
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(least, 5).Draw(r, "conversations") {
			c := &archive.Conversation{
				Kind: "chatgpt", Native: fmt.Sprint(rapid.IntRange(0, 5).Draw(r, "id")),
				Title: text(5).Draw(r, "title"), Messages: rapid.SliceOfN(message(), 1, 8).Draw(r, "messages"),
			}
			_, err := file.Put(t.Context(), c)
			if err == nil && server != nil {
				_, err = server.Put(t.Context(), c)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
	put(1)
	inFile, _ := archive.Open(store.Options{Home: dir})
	refresh(t, conversations.New(conversations.Options{Indexes: x}, inFile))
	put(0) // which the index has not
	libraries := map[string]*conversations.Library{
		"by reading": conversations.New(conversations.Options{Once: true}, inFile),
		"by index":   conversations.New(conversations.Options{Once: true, Indexes: x}, inFile),
	}
	if server != nil {
		inServer, ok := postgres.Open(store.Options{Getenv: func(name string) string { return map[string]string{"CONVERSATION_DB": url}[name] }})
		if !ok {
			t.Fatal("there is no archive")
		}
		libraries["by the server"] = conversations.New(conversations.Options{Once: true}, inServer)
	}
	for _, l := range libraries {
		defer l.Close()
	}
	for range 5 {
		q := messageQuery{
			Filter: conversations.Filter{Sources: []string{archive.Name}},
			Text:   strings.TrimFunc(text(4).Draw(r, "query"), basetext.IsSpace),
			Limit:  rapid.IntRange(1, 20).Draw(r, "limit"),
		}
		q.Scopes = rapid.SampledFrom([]transcript.Scopes{0, transcript.ScopeUser, transcript.RoleAssistant.Scopes() | transcript.RoleTool.Scopes()}).Draw(r, "roles")
		for _, bound := range []*time.Time{&q.Since, &q.Until} {
			if n := rapid.IntRange(0, 12).Draw(r, "bound"); n > 6 {
				*bound = noon().Add(time.Duration(n-6) * (500*time.Microsecond + 1))
			}
		}
		if rapid.Bool().Draw(r, "own") {
			q.Own = func(tool string) bool { return tool == "own" }
		}
		if rapid.Bool().Draw(r, "excluded") {
			q.Exclude = []string{"archive-chatgpt-2"}
		}
		want := pages(t, libraries["by reading"], q)
		for name, l := range libraries {
			if diff := cmp.Diff(want, pages(t, l, q)); diff != "" {
				r.Fatalf("%q, scopes %v: -by reading +%s\n%s", q.Text, q.Scopes, name, diff)
			}
		}
	}
}

// pages asks for one page after the other.
func pages(t *testing.T, l *conversations.Library, q messageQuery) (list []string) {
	t.Helper()
	for {
		found, err := newest(t.Context(), l, q)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range found.Messages {
			list = append(list, fmt.Sprintf("%v %d %s %d %s %v %d %q %q", m.Position.Time, m.Position.Event, m.Position.ID, m.Kind, m.Role, m.Conversation.Title, m.Chars, m.Text, m.Conversation.NativeID))
		}
		// Of what is excluded, a file names only conversations that hold the text.
		list = append(list, fmt.Sprintf("more %t, total %d, at least %t, own %d, hidden %d, problems %v", found.More, found.Total, found.AtLeast, found.Own, found.Hidden, found.Problems))
		if !found.More {
			return list
		}
		q.After = &found.Messages[len(found.Messages)-1].Position
	}
}
