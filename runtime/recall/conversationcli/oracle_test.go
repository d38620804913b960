package conversationcli_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/base/cases"
	"github.com/convtools/convtools/runtime/store/jp/jptest"
)

// hit is one element of the output of grep.
type hit struct {
	ID         string
	Turn       *int
	Scope      string
	Text       string
	Match      bool
	Submatches []submatch
	Line       *int
	Event      *int
	Chars      int
}

type submatch struct {
	Match      string
	Start, End int
}

// TestGrepAgainstOracle compares grep with a straightforward search by
// encoding/json and regexp, over random conversations and random flags.
func TestGrepAgainstOracle(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 8))
	matched := 0
	for round := range cases.Of(20) {
		dir := filepath.Join(t.TempDir(), "w")
		writeRandom(t, dir, rng)
		for range 8 {
			o := randomSearch(rng)
			want := o.search(t, dir)
			got := run(t, dir, o.args()...)
			var hits []hit
			if err := json.Unmarshal([]byte(got.stdout), &hits); err != nil {
				t.Fatalf("round %d: %q printed %q: %v", round, o.args(), got.stdout, err)
			}
			if diff := cmp.Diff(want, hits); diff != "" {
				t.Fatalf("round %d: %q (-want +got):\n%s", round, o.args(), diff)
			}
			wantCode := 0
			if len(want) == 0 {
				wantCode = 1
			}
			if got.code != wantCode {
				t.Errorf("round %d: %q: exit code %d, want %d", round, o.args(), got.code, wantCode)
			}
			matched += len(want)
		}
	}
	if matched < 200 {
		t.Errorf("only %d hits in all rounds: the test looks at too little", matched)
	}
}

// words are the parts of random text: with case variants of other lengths, characters that JSON
// and base64 treat specially, and line ends.
var words = []string{
	"retry", "Retry", "RETRY", "retr", "y", "tas\u212a", "task", "ta\u017fK", "ſ", "k", " ", " ", "\n", "\n", "\r\n", "\t",
	"\"quoted\"", "back\\slash", "a/b", "über", "ÜBER", "日本語", "ς", "Σ", "\u2028", "~?>", "0123456789abcdef", "{}", "<&>",
	"\x01", "node",
}

func randomText(rng *rand.Rand) string {
	var text strings.Builder
	for range rng.IntN(14) {
		text.WriteString(words[rng.IntN(len(words))])
	}
	return text.String()
}

func writeRandom(t *testing.T, dir string, rng *rand.Rand) {
	t.Helper()
	w := jptest.New(dir, "tests")
	for i := range 1 + rng.IntN(4) {
		c := w.Conversation(strconv.Itoa(17600000000+i*1000+rng.IntN(900)), "c")
		if rng.IntN(4) > 0 {
			c.Title(strings.TrimSpace("t" + strings.Map(func(r rune) rune {
				if r < ' ' {
					return ' '
				}
				return r
			}, randomText(rng))))
		}
		for range rng.IntN(12) {
			if rng.IntN(4) == 0 {
				c.TurnStart()
			}
			switch text := randomText(rng); rng.IntN(10) {
			case 0, 1:
				c.User(text)
			case 2:
				c.Assistant(text)
			case 3:
				c.Reasoning(text)
			case 4:
				c.Event("chat_response", "data", text)
			case 5:
				c.Event("chat_response", "data", map[string]any{"retry": text})
			case 6, 7:
				c.ToolResult("call", text, false)
			case 8:
				c.ToolCall("call", "re"+"try", map[string]any{"path": text, "n": 1, "list": []any{text, nil, map[string]any{}}})
			case 9:
				c.Inquiry("q", text)
			}
			if rng.IntN(8) == 0 {
				c.Event("compaction", "from_turn", 0, "to_turn", 0, "summary", map[string]string{"summary": "retry"})
			}
		}
	}
	if err := w.Write(); err != nil {
		t.Fatal(err)
	}
}

// oracle is a search done the simple way.
type oracle struct {
	pattern             string
	ignoreCase, regex   bool
	scopes              []string
	context, maxMatches int
	limit               int
	ascending           bool
}

func randomSearch(rng *rand.Rand) oracle {
	o := oracle{
		ignoreCase: rng.IntN(4) > 0,
		regex:      rng.IntN(4) == 0,
		context:    max(0, rng.IntN(5)-2),
		ascending:  rng.IntN(2) == 0,
	}
	if rng.IntN(3) == 0 {
		o.maxMatches = 1 + rng.IntN(3)
	}
	if rng.IntN(4) == 0 {
		o.limit = 1 + rng.IntN(2)
	}
	plain := []string{"retry", "RETRY", "task", "K", "s", "über", "σ", "日本", "\"quoted", "slash", "a/b", "\\n", "e", "node", "\"path\": \"", "abcdef", "y\u2028", "ynode", "nnode", "nretry", "1retry", "001node", "tretry", "bfretry", "path", "retryretr", " ", "  ", "\t"}
	exprs := []string{"retr[yi]", "^t", "k$", `\bnode\b`, "x*", "(retry|task)+", `re(?:t)ry\s`, ".", "^$", "  ", "\t"}
	o.pattern = plain[rng.IntN(len(plain))]
	if o.regex {
		o.pattern = exprs[rng.IntN(len(exprs))]
	}
	for range rng.IntN(3) {
		all := []string{"title", "user", "assistant", "reasoning", "structured", "tool-call", "tool-result", "inquiry"}
		o.scopes = append(o.scopes, all[rng.IntN(len(all))])
	}
	return o
}

func (o *oracle) args() []string {
	args := []string{
		"grep", "--format=json", fmt.Sprintf("--context=%d", o.context), fmt.Sprintf("--max-matches=%d", o.maxMatches),
		fmt.Sprintf("--limit=%d", o.limit), fmt.Sprintf("--ascending=%t", o.ascending),
	}
	if o.ignoreCase {
		args = append(args, "--ignore-case")
	} else {
		args = append(args, "--case-sensitive")
	}
	if o.regex {
		args = append(args, "--regex")
	}
	for _, s := range o.scopes {
		args = append(args, "--scope="+s)
	}
	return append(args, "--", o.pattern)
}

// conversation is a conversation as the oracle reads it.
type conversation struct {
	id     string
	number int
	title  string
	last   string // timestamp of the last event; all are written in one format
	texts  []textAt
}

type textAt struct {
	scope       string
	turn, event *int
	text        string
}

func (o *oracle) search(t *testing.T, dir string) []hit {
	t.Helper()
	expr := o.pattern
	if !o.regex {
		expr = regexp.QuoteMeta(expr)
	}
	if o.ignoreCase {
		expr = "(?i)" + expr
	}
	re := regexp.MustCompile(expr)
	hits := []hit{}
	shown := 0
	for _, c := range o.conversations(t, dir) {
		if o.limit > 0 && shown == o.limit {
			break
		}
		room := -1
		if o.maxMatches > 0 {
			room = o.maxMatches
		}
		before := len(hits)
		for _, text := range c.texts {
			if len(o.scopes) > 0 && !slices.Contains(o.scopes, text.scope) || room == 0 {
				continue
			}
			lines := splitLines(text.text)
			show := make([]int, len(lines)) // 1: context, 2: match
			for i, line := range lines {
				if room == 0 || !re.MatchString(line) {
					continue
				}
				for j := max(0, i-o.context); j <= min(len(lines)-1, i+o.context); j++ {
					show[j] = max(show[j], 1)
				}
				show[i] = 2
				room--
			}
			for i, kind := range show {
				if kind == 0 {
					continue
				}
				h := hit{ID: c.id, Turn: text.turn, Scope: text.scope, Text: lines[i], Match: kind == 2, Submatches: []submatch{}, Event: text.event}
				if text.event != nil {
					number := i + 1
					h.Line = &number
				}
				if h.Match {
					for _, loc := range re.FindAllStringIndex(lines[i], -1) {
						if loc[0] < loc[1] {
							h.Submatches = append(h.Submatches, submatch{lines[i][loc[0]:loc[1]], loc[0], loc[1]})
						}
					}
				}
				hits = append(hits, h)
			}
		}
		if len(hits) > before {
			shown++
		}
	}
	return hits
}

func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	return lines
}

// conversations returns the conversations in the order of their activity.
func (o *oracle) conversations(t *testing.T, dir string) []conversation {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, ".jp/conversations/*/events.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all []conversation
	for _, path := range paths {
		all = append(all, readConversation(t, path))
	}
	slices.SortFunc(all, func(a, b conversation) int {
		by := strings.Compare(a.last, b.last)
		if !o.ascending {
			by = -by
		}
		if by == 0 {
			by = a.number - b.number
		}
		return by
	})
	return all
}

func readConversation(t *testing.T, path string) conversation {
	t.Helper()
	digits, _, _ := strings.Cut(filepath.Base(filepath.Dir(path)), "-")
	number, err := strconv.Atoi(digits)
	if err != nil {
		t.Fatal(err)
	}
	c := conversation{id: "jp-c" + digits, number: number}
	c.last = jptest.Timestamp(time.UnixMilli(int64(number) * 100))
	var meta struct{ Title string }
	readJSON(t, filepath.Join(filepath.Dir(path), "metadata.json"), &meta)
	c.title = meta.Title
	c.texts = append(c.texts, textAt{scope: "title", text: meta.Title})
	var events []map[string]json.RawMessage
	readJSON(t, path, &events)
	turn, typed := 0, false
	for i, e := range events {
		c.last = str(e["timestamp"])
		kind := str(e["type"])
		switch kind {
		case "config_delta", "compaction":
			continue
		}
		if !typed || kind == "turn_start" {
			turn++
		}
		typed = true
		if scope, text := eventText(t, kind, e); scope != "" {
			c.texts = append(c.texts, textAt{scope, &[]int{turn}[0], &[]int{i}[0], text})
		}
	}
	return c
}

func eventText(t *testing.T, kind string, e map[string]json.RawMessage) (scope, text string) {
	switch kind {
	case "chat_request":
		return "user", str(e["content"])
	case "chat_response":
		switch {
		case e["message"] != nil:
			return "assistant", str(e["message"])
		case e["reasoning"] != nil:
			return "reasoning", str(e["reasoning"])
		}
		return "structured", str(e["data"])
	case "tool_call_request":
		var args any
		decoder := json.NewDecoder(bytes.NewReader(e["arguments"]))
		decoder.UseNumber()
		if err := decoder.Decode(&args); err != nil {
			t.Fatal(err)
		}
		var pretty bytes.Buffer
		encoder := json.NewEncoder(&pretty)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(decodeLeaves(args)); err != nil { // keys are written in sorted order
			t.Fatal(err)
		}
		// Unlike encoding/json, the line separator is not escaped.
		text := strings.ReplaceAll(strings.TrimSuffix(pretty.String(), "\n"), `\u2028`, "\u2028")
		text = regexp.MustCompile(`"(?:\\.|[^"\\])*"`).ReplaceAllStringFunc(text, func(quoted string) string {
			return `"` + str(json.RawMessage(quoted)) + `"`
		})
		return "tool-call", str(e["name"]) + "\n" + text
	case "tool_call_response":
		return "tool-result", decodeStored(str(e["content"]))
	case "inquiry_request":
		var question struct{ Text string }
		if err := json.Unmarshal(e["question"], &question); err != nil {
			t.Fatal(err)
		}
		return "inquiry", question.Text
	}
	return "", ""
}

func decodeLeaves(v any) any {
	switch v := v.(type) {
	case string:
		return decodeStored(v)
	case []any:
		for i := range v {
			v[i] = decodeLeaves(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = decodeLeaves(v[k])
		}
	}
	return v
}

func decodeStored(s string) string {
	if strings.ContainsAny(s, "\r\n") {
		return s
	}
	for _, encoding := range []*base64.Encoding{base64.StdEncoding.Strict(), base64.URLEncoding.Strict()} {
		if text, err := encoding.DecodeString(s); err == nil && utf8.Valid(text) {
			return string(text)
		}
	}
	return s
}

func str(data json.RawMessage) string {
	var s string
	if json.Unmarshal(data, &s) != nil {
		return ""
	}
	return s
}

func readJSON(t *testing.T, path string, v any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil {
		t.Fatal(err)
	}
}
