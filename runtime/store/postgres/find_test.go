package postgres_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

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
			m.Time = clock().Add(time.Duration(n) * 500 * time.Microsecond)
		}
		return m
	})
}

// A server finds what is found by reading a file, to the letter.
func TestFindsAsReading(t *testing.T) {
	t.Parallel()
	cluster.Need(t)
	admin := postgrestest.Connect(t, cluster.Admin("archive"))
	role, url := cluster.Role(t)
	server, err := postgres.Create(t.Context(), postgres.WriterOptions{URL: url, Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	rapid.Check(t, func(r *rapid.T) {
		if _, err := admin.Exec("DELETE FROM convtools.conversations WHERE owner = $1", role); err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		file, err := archive.Create(t.Context(), archive.WriterOptions{Dir: dir, Now: clock})
		if err != nil {
			t.Fatal(err)
		}
		for i := range rapid.IntRange(1, 5).Draw(r, "conversations") {
			c := &archive.Conversation{Kind: "chatgpt", Native: fmt.Sprint((i * 7) % 5), Title: text(5).Draw(r, "title"), Messages: rapid.SliceOfN(message(), 1, 8).Draw(r, "messages")}
			for _, w := range []interface {
				Put(context.Context, *archive.Conversation) (archive.Outcome, error)
			}{file, server} {
				if _, err := w.Put(t.Context(), c); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		if err := server.Flush(); err != nil {
			t.Fatal(err)
		}
		inFile, _ := archive.Open(store.Options{Home: dir})
		once := conversations.Options{Once: true}
		want, got := conversations.New(once, inFile), conversations.New(once, open(t, url))
		defer want.Close()
		defer got.Close()
		for range 5 {
			q := conversations.MessageQuery{
				Filter: conversations.Filter{Sources: []string{archive.Name}},
				Text:   strings.TrimFunc(text(4).Draw(r, "query"), conversations.IsSpace),
				Limit:  rapid.IntRange(1, 20).Draw(r, "limit"),
			}
			q.Roles = transcript.Roles(rapid.SampledFrom([]transcript.Roles{0, transcript.RolesOf(transcript.RoleUser), transcript.RolesOf(transcript.RoleAssistant, transcript.RoleTool)}).Draw(r, "roles"))
			for _, bound := range []**time.Time{&q.Since, &q.Until} {
				if n := rapid.IntRange(0, 12).Draw(r, "bound"); n > 6 {
					at := clock().Add(time.Duration(n-6) * (500*time.Microsecond + 1))
					*bound = &at
				}
			}
			if rapid.Bool().Draw(r, "own") {
				q.Own = func(tool string) bool { return tool == "own" }
			}
			if rapid.Bool().Draw(r, "excluded") {
				q.Exclude = []string{"archive-chatgpt-2"}
			}
			compare(t, r, want, got, q)
		}
	})
}

// compare asks for one page after the other.
func compare(t *testing.T, r *rapid.T, want, got *conversations.Library, q conversations.MessageQuery) {
	of := q
	for {
		a, err := want.Messages(t.Context(), of)
		if err != nil {
			t.Fatal(err)
		}
		b, err := got.Messages(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		positions := func(m conversations.MessageMatches) (list []string) {
			for _, m := range m.Messages {
				list = append(list, fmt.Sprintf("%v %d %s %d %s %v %d %q %q", m.Position.Time, m.Position.Event, m.Position.ID, m.Kind, m.Role, m.Conversation.Title, m.Chars, m.Text, m.Conversation.NativeID))
			}
			// Of what is excluded, a file names only conversations that hold the text.
			return append(list, fmt.Sprintf("more %t, total %d, at least %t, own %d, hidden %d, problems %v", m.More, m.Total, m.AtLeast, m.Own, m.Aside.Hidden, m.Aside.Problems))
		}
		if diff := cmp.Diff(positions(a), positions(b)); diff != "" {
			r.Fatalf("%q, roles %d, after %v: -read +found\n%s", q.Text, q.Roles, q.After, diff)
		}
		if !a.More {
			return
		}
		of.After, q.After = &a.Messages[len(a.Messages)-1].Position, &b.Messages[len(b.Messages)-1].Position
	}
}
