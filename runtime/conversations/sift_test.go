package conversations_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/claudecode"
	"github.com/convtools/convtools/runtime/store/codex"
	"github.com/convtools/convtools/runtime/store/project"
	"github.com/convtools/convtools/runtime/transcript"
)

// decoded is a store whose events are never looked at as they are stored.
type decoded struct{ store.Store }

func (d decoded) Open(ctx context.Context) (store.Session, []store.Problem, error) {
	s, unread, err := d.Store.Open(ctx)
	return decodedSession{s}, unread, err
}

type decodedSession struct{ store.Session }

func (d decodedSession) List(ctx context.Context, set store.Set) ([]store.Conversation, []store.Problem, error) {
	list, problems, err := d.Session.List(ctx, set)
	for i := range list {
		list[i].Record = decodedRecord{list[i].Record}
	}
	return list, problems, err
}

type decodedRecord struct{ store.Record }

func (d decodedRecord) Events(ctx context.Context, buffer *store.Buffer) (store.Events, error) {
	events, err := d.Record.Events(ctx, buffer)
	return struct{ store.Events }{events}, err
}

// siftedPieces are what texts in the test consist of: what JSON escapes, in one or the other
// way, and what programs take out or put in.
var siftedPieces = []string{
	"retry", "Retry", "re", "try", "kelvin", "\u212aelvin", "ſtop", "stop", "東京", "é", "\U0001f600", "\x1b[31m", "\t", "\n", "\"", "\\", "/", "a/b",
	"C:\\users", `\u0041`, "<b>", "&", "{", "}", "1.5", "-", "_", ".", " ", " ", " ", "b", "n", "u001b", "\u2028",
	"<system-reminder>hidden</system-reminder>", strings.Repeat("long ", 200),
}

func siftedText(rng *rand.Rand) string {
	var b strings.Builder
	for range 1 + rng.IntN(8) {
		b.WriteString(siftedPieces[rng.IntN(len(siftedPieces))])
	}
	return b.String()
}

// quoted writes a JSON string as one of several writers does.
func quoted(rng *rand.Rand, s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(rng.IntN(3) == 0) // < as \u003c
	_ = e.Encode(s)
	text := strings.TrimSuffix(b.String(), "\n")
	switch rng.IntN(6) {
	case 0: // as Python has it
		var ascii strings.Builder
		for _, r := range text {
			switch {
			case r < 0x80:
				ascii.WriteRune(r)
			case r < 0x10000:
				fmt.Fprintf(&ascii, `\u%04x`, r)
			default:
				fmt.Fprintf(&ascii, `\u%04x\u%04x`, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
			}
		}
		return ascii.String()
	case 1:
		return strings.ReplaceAll(text, "/", `\/`)
	case 2:
		return strings.ReplaceAll(text, "t", `\u0074`)
	}
	return text
}

// A search that looks at what is stored before it decodes it finds the same.
func TestSiftFindsTheSame(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), realDir(t)
	rng := rand.New(rand.NewPCG(4, 2))
	write := func(name, text string) {
		name = filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cwd, _ := json.Marshal(dir)
	folder := strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' {
			return r
		}
		return '-'
	}, dir)
	var texts []string
	text := func() string {
		texts = append(texts, siftedText(rng))
		return texts[len(texts)-1]
	}
	const sessions = 15
	for i := range sessions {
		var claude, rollout strings.Builder
		id := fmt.Sprintf("%08x-1111-%%s222-8333-444455556666", i+1)
		fmt.Fprintf(&rollout, `{"timestamp":"2026-05-01T00:00:00Z","type":"session_meta","payload":{"id":%q,"cwd":%s}}`+"\n", fmt.Sprintf(id, "7"), cwd)
		for n := range 1 + rng.IntN(6) {
			head := fmt.Sprintf(`"uuid":"%d.%d","timestamp":"2026-05-01T00:%02d:%02dZ","cwd":%s`, i, n, n, i, cwd)
			if n > 0 {
				head += fmt.Sprintf(`,"parentUuid":"%d.%d"`, i, n-1)
			}
			arguments := fmt.Sprintf(`{"a":%s,%s:[1.50,%s]}`, quoted(rng, text()), quoted(rng, "k"+text()), quoted(rng, text()))
			line := fmt.Sprintf(`{"timestamp":"2026-05-01T00:%02d:%02dZ","type":`, n, i)
			switch rng.IntN(4) {
			case 0:
				fmt.Fprintf(&claude, `{"type":"user",%s,"message":{"content":%s}}`+"\n", head, quoted(rng, text()))
				fmt.Fprintf(&rollout, `%s"event_msg","payload":{"type":"user_message","message":%s}}`+"\n", line, quoted(rng, text()))
			case 1:
				fmt.Fprintf(&claude, `{"type":"assistant",%s,"message":{"content":[{"type":"tool_use","id":"c","name":"Bash","input":%s}]}}`+"\n", head, arguments)
				fmt.Fprintf(&rollout, `%s"response_item","payload":{"type":"function_call","call_id":"c","name":"shell","arguments":%s}}`+"\n", line, quoted(rng, arguments))
			case 2:
				fmt.Fprintf(&claude, `{"type":"user",%s,"message":{"content":[{"type":"tool_result","tool_use_id":"c","content":%s}]}}`+"\n", head, quoted(rng, text()))
				fmt.Fprintf(&rollout, `%s"response_item","payload":{"type":"function_call_output","call_id":"c","output":%s}}`+"\n", line, quoted(rng, text()))
			default:
				fmt.Fprintf(&claude, `{"type":"assistant",%s,"message":{"content":[{"type":"text","text":%s}]}}`+"\n", head, quoted(rng, text()))
				fmt.Fprintf(&rollout, `%s"event_msg","payload":{"type":"agent_message","message":%s}}`+"\n", line, quoted(rng, text()))
			}
		}
		write("claude/projects/"+folder+"/"+fmt.Sprintf(id, "4")+".jsonl", claude.String())
		write("codex/sessions/2026/05/01/rollout-2026-05-01T00-00-00-"+fmt.Sprintf(id, "7")+".jsonl", rollout.String())
	}
	p := project.New(project.Options{Dir: dir})
	claude, ok := claudecode.Open(store.Options{Home: filepath.Join(home, "claude"), Project: p})
	rollouts, ok2 := codex.Open(store.Options{Home: filepath.Join(home, "codex"), Project: p})
	if !ok || !ok2 {
		t.Fatal("there is no store")
	}
	fast := conversations.New(conversations.Options{}, claude, rollouts)
	slow := conversations.New(conversations.Options{}, decoded{claude}, decoded{rollouts})
	found := 0
	for range 60 {
		runes := []rune(strings.ReplaceAll(texts[rng.IntN(len(texts))], "<system-reminder>hidden</system-reminder>", ""))
		from := rng.IntN(len(runes) + 1)
		pattern := string(runes[from:min(len(runes), from+3+rng.IntN(20))])
		pattern, _, _ = strings.Cut(pattern, "\n")
		if strings.TrimSpace(pattern) == "" {
			continue
		}
		ignoreCase := rng.IntN(2) == 0
		var counts [2]int
		var results [2]string
		for i, l := range []*conversations.Library{fast, slow} {
			var b strings.Builder
			for _, words := range [][]string{nil, strings.Fields(pattern)} {
				m, err := l.SearchEvents(t.Context(), conversations.EventQuery{
					Pattern: pattern, Words: words, IgnoreCase: ignoreCase, Scopes: transcript.ScopeAll,
					Event: func(e *conversations.EventMatch) error {
						fmt.Fprintln(&b, e.Conversation.ID, e.Number, e.Matches)
						return nil
					},
				})
				counts[i] += m.Total
				fmt.Fprintln(&b, m.Total, m.Searched, m.Words, m.Together, err)
			}
			for _, byEvent := range []bool{false, true} {
				m, err := l.Search(t.Context(), conversations.SearchQuery{
					Pattern: pattern, IgnoreCase: ignoreCase, ByEvent: byEvent, Sort: conversations.ByID, CountAll: true,
					Found: func(m *conversations.Match) error {
						fmt.Fprintln(&b, m.ID, m.Matches, m.Turns)
						return nil
					},
				})
				fmt.Fprintln(&b, m.Total, m.Searched, m.Matched, err)
			}
			results[i] = b.String()
		}
		if diff := cmp.Diff(results[1], results[0]); diff != "" {
			t.Fatalf("%q, ignoring case %t (-decoded +sifted):\n%s", pattern, ignoreCase, diff)
		}
		found += counts[0]
	}
	if found == 0 {
		t.Error("no pattern was found")
	}
}

// What is found although it does not stand in one piece, or not as it is, where it is
// stored.
func TestSiftedAside(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), realDir(t)
	cwd, _ := json.Marshal(dir)
	folder := filepath.Join(home, "projects", strings.NewReplacer("/", "-", "_", "-", ".", "-", "\\", "-", ":", "-").Replace(dir))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for i, test := range []struct{ content, pattern string }{
		{`[{"type":"tool_result","tool_use_id":"c","content":"back<system-reminder>x</system-reminder>off"}]`, "backoff"},
		{`[{"type":"tool_result","tool_use_id":"c","content":"backo\u0066f"}]`, "backoff"},
		{`[{"type":"tool_result","tool_use_id":"c","content":"\u212aelvin"}]`, "kelvin"},
		{`[{"type":"tool_result","tool_use_id":"c","content":"src\/main"}]`, "src/main"},
		{`[{"type":"tool_result","tool_use_id":"c","content":"a \"quoted\" word"}]`, `"quoted" word`},
		{`[{"type":"tool_result","tool_use_id":"c","content":"\u001b[31mred"}]`, "[31mred"},
		{`[{"type":"tool_result","tool_use_id":"c","content":"PADbackoff"}]`, "backoff"},
		{`[{"type":"tool_result","tool_use_id":"c","content":"CUTbackoff"}]`, "backoff"},
		{`[{"type":"tool_result","tool_use_id":"c","content":"CUT\u0062ackoff"}]`, "backoff"},
		{`[{"type":"tool_result","tool_use_id":"c","content":"\u0042ackoff"}]`, "backoff"},
		{`[{"type":"tool_result","tool_use_id":"c","content":"\u6771京"}]`, "東京"},
		{`[{"type":"tool_result","tool_use_id":"c","content":"a\ud83d\ude00b"}]`, "a😀b"},
		{`[{"type":"tool_use","id":"c","name":"Bash","input":{"command":"one","n":1.50}}]`, `"n": 1.50`},
		{`[{"type":"tool_use","id":"c","name":"Bash","input":{"command":"a\u000abackoff"}}]`, "nbackoff"},
	} {
		kind := "user"
		if strings.Contains(test.content, "tool_use\"") {
			kind = "assistant"
		}
		id := fmt.Sprintf("%08x-1111-4222-8333-444455556666", i+1)
		line := fmt.Sprintf(`{"type":%q,"uuid":"%d","timestamp":"2026-05-01T00:00:00Z","cwd":%s,"message":{"content":%s}}`+"\n", kind, i, cwd, test.content)
		for mark, end := range map[string]int{"PAD": 256 << 10, "CUT": 24<<10 + store.SiftOverlap} { // across the end of what is read first, or is looked at first
			if before := strings.Index(line, mark); before >= 0 {
				line = strings.Replace(line, mark, strings.Repeat("x", end-before-3), 1)
			}
		}
		if err := os.WriteFile(filepath.Join(folder, id+".jsonl"), []byte(line), 0o644); err != nil {
			t.Fatal(err)
		}
		s, ok := claudecode.Open(store.Options{Home: home, Project: project.New(project.Options{Dir: dir})})
		if !ok {
			t.Fatal("there is no store")
		}
		l := conversations.New(conversations.Options{}, s)
		m, err := l.Search(t.Context(), conversations.SearchQuery{
			Filter: conversations.Filter{IDs: []string{"claude-" + id}}, Pattern: test.pattern, IgnoreCase: true, Scopes: transcript.ScopeAll,
		})
		if err != nil || m.Total != 1 {
			t.Errorf("%.80s: %q is in %d lines, %v", test.content, test.pattern, m.Total, err)
		}
	}
}
