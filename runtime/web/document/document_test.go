package document

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

func TestMessage(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, said, want string }{
		{"a paragraph", "a *b* `c`", "<p>a <em>b</em> <code>c</code></p>\n"},
		{"HTML in a line", "a <b>b</b> <img src=x onerror=alert(1)>", "<p>a &lt;b&gt;b&lt;/b&gt; &lt;img src=x onerror=alert(1)&gt;</p>\n"},
		{"a block of HTML", "<script>\nalert(1)\n</script>\n", "<p>&lt;script&gt;\nalert(1)\n&lt;/script&gt;</p>\n"},
		{"a link", "[a](https://example.com/?a=1&b=%22)", `<p><a rel="noopener noreferrer" target="_blank" href="https://example.com/?a=1&amp;b=%22">a</a></p>` + "\n"},
		{"a script as a link", "[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) <javascript:alert(1)>", "<p>a b javascript:alert(1)</p>\n"},
		{"a file as a link", "[a](file:///etc/passwd) [b](/c/other) [c](data:text/html,x)", "<p>a b c</p>\n"},
		{"an attribute in a link", `[a](https://example.com/" onmouseover="x)`, "<p>[a](https://example.com/&quot; onmouseover=&quot;x)</p>\n"},
		{"an image", "![a](https://example.com/a.png)", `<p><a rel="noopener noreferrer" target="_blank" href="https://example.com/a.png">a</a></p>` + "\n"},
		{"a heading", "# a", "<p class=\"heading\"><strong>a</strong></p>\n"},
		{"a language that ends its attribute", "```\"><b>\nx\n```", "<pre><code class=\"language-&quot;&gt;&lt;b&gt;\">x\n</code></pre>\n"},
		{
			"a table", "| a | b |\n|---|:-:|\n| `x` | y \\| z |\n| one |\n",
			"<div class=\"table\" tabindex=\"0\"><table>\n<tr><th scope=\"col\">a</th><th scope=\"col\">b</th></tr>\n" +
				"<tr><td><code>x</code></td><td>y | z</td></tr>\n<tr><td>one</td></tr>\n</table></div>\n",
		},
		{"no table: one column too many", "| a | b |\n|---|\n", "<p>| a | b |\n|---|</p>\n"},
		{"no table: no bar", "a\n---\n", "<p class=\"heading\"><strong>a</strong></p>\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, string(NewRenderer().message(tc.said))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"a <b>b</b>":                           `a \<b>b\</b>`,
		"![a](https://example.com/a.png)":      `!\[a](https://example.com/a.png)`,
		"`<b>` and\n\n```\n<b> ![a](b)\n```\n": "`<b>` and\n\n```\n<b> ![a](b)\n```\n",
		"a ![b][c]\n\n[c]: https://x.example":  "a !\\[b][c]\n\n[c]: https://x.example",
		"    <indented>":                       "    <indented>",
	} {
		if got := NewRenderer().plain(said); got != want {
			t.Errorf("plain(%q) = %q, want %q", said, got, want)
		}
	}
}

// event returns an event with a number.
func event(number int, e transcript.Event) conversations.Event {
	return conversations.Event{Number: number, Event: e}
}

func call(number int, tool, arguments string) conversations.Event {
	return event(number, transcript.Event{Kind: transcript.KindToolCall, Name: tool, CallID: "c", Arguments: []byte(arguments)})
}

func result(number int, said string) conversations.Event {
	return event(number, transcript.Event{Kind: transcript.KindToolResult, CallID: "c", Text: []byte(said)})
}

func TestCalls(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, tool, arguments, result string
		about, exit, size, diff       string
	}{
		{"a command", "Bash", `{"command":"go test ./...","description":"run"}`, "Exit code 1\nFAIL", "go test ./...", "exit 1", "16 B", ""},
		{"a command of Codex", "shell", `{"command":["bash","-lc","ls -l"]}`, `{"output":"a","metadata":{"exit_code":2}}`, "ls -l", "exit 2", "41 B", ""},
		{"a command of Codex, now", "exec_command", `{"cmd":"ls"}`, "Process exited with code 0\nOutput:\na", "ls", "exit 0", "36 B", ""},
		{"a file", "Read", `{"file_path":"a/b.go"}`, strings.Repeat("x", 2500), "a/b.go", "", "2.5 KB", ""},
		{"an edit of Claude Code", "Edit", `{"file_path":"a.go","old_string":"x\ny\nz","new_string":"x\nw\nz"}`, "ok", "a.go", "", "2 B", "@@ -1,3 +1,3 @@\n x\n-y\n+w\n z"},
		{"several edits", "MultiEdit", `{"file_path":"a.go","edits":[{"old_string":"x","new_string":"y"},{"old_string":"v","new_string":""}]}`, "ok", "a.go", "", "2 B", "@@ -1,1 +1,1 @@\n-x\n+y\n@@ -1,1 +0,0 @@\n-v"},
		{"an edit of opencode", "edit", `{"filePath":"a.go","oldString":"x","newString":"y"}`, "ok", "a.go", "", "2 B", "@@ -1,1 +1,1 @@\n-x\n+y"},
		{"an edit of JP", "fs_modify_file", `{"path":"a.go","patches":[{"old":"x","new":"y"}]}`, "ok", "a.go", "", "2 B", "@@ -1,1 +1,1 @@\n-x\n+y"},
		{"a new file", "Write", `{"file_path":"a.go","content":"x\ny\n"}`, "ok", "a.go", "", "2 B", "+x\n+y"},
		{"a patch of Codex", "apply_patch", `{"input":"*** Begin Patch\n*** Update File: a.go\n@@\n-x\n+y\n*** End Patch\n"}`, "ok", "a.go", "", "2 B", "@@ -1,1 +1,1 @@\n-x\n+y"},
		{"no object", "odd", `[1]`, "ok", "", "", "2 B", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			entries := NewRenderer().Entries([]conversations.Event{call(1, tc.tool, tc.arguments), result(2, tc.result)})
			if len(entries) != 1 || entries[0].Call == nil || entries[0].Call.Output == nil {
				t.Fatalf("%+v", entries)
			}
			c := entries[0].Call
			var diff []string
			for _, block := range c.Input {
				for _, line := range block.Diff {
					diff = append(diff, line.Text)
				}
			}
			got := []string{c.Tool, c.About, c.Output.Exit, c.Output.Size, strings.Join(diff, "\n")}
			if d := cmp.Diff([]string{tc.tool, tc.about, tc.exit, tc.size, tc.diff}, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// What is long is folded, and of what is very long the address of the whole is shown.
func TestLongText(t *testing.T) {
	t.Parallel()
	r := NewRenderer()
	lines := strings.Repeat("0123456789abcde\n", 2000)
	b := r.block(7, lines)
	if strings.Count(b.Head, "\n") != shownLines || b.Lines != 2000-shownLines || b.Cut != 0 || b.Head+b.Rest+"\n" != lines {
		t.Errorf("%d lines, %d folded, %d bytes cut", strings.Count(b.Head, "\n"), b.Lines, b.Cut)
	}
	r.Whole = func(int) string { return "/whole" }
	if b := r.block(7, lines); b.Cut != 32000-1-shownBytes || b.Whole != "/whole" {
		t.Errorf("%d bytes cut, and the whole is at %q", b.Cut, b.Whole)
	}
	if b := r.block(7, strings.Repeat("é", shownBytes)); len(b.Head)+b.Cut != 2*shownBytes || b.Head != strings.Repeat("é", shownBytes/2) {
		t.Errorf("%d bytes of %d are shown", len(b.Head), 2*shownBytes)
	}
}

func TestEntries(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 6, 9, 10, 0, 0, time.UTC)
	said := func(number int, kind transcript.Kind, text string, at time.Time) conversations.Event {
		return event(number, transcript.Event{Kind: kind, Text: []byte(text), Time: at})
	}
	entries := NewRenderer().Entries([]conversations.Event{
		said(0, transcript.KindTurnStart, "", at),
		said(1, transcript.KindUser, "\n  Why?\nand how", at),
		said(2, transcript.KindReasoning, "hm", at),
		call(3, "Read", "{}"), result(4, "x"), result(5, "alone"),
		said(6, transcript.KindAssistant, "so", at.AddDate(0, 0, 3)),
	})
	var got []string
	for _, e := range entries {
		got = append(got, strings.Join([]string{Anchor(e.Number), e.Class, e.Who, e.Title, strings.Repeat("new day", count(e.NewDay))}, "|"))
	}
	want := []string{"#event-1|user|You|Why? and how|new day", "#event-2|reasoning|Thinking||", "#event-3|tool|||", "#event-5|tool|||", "#event-6|assistant|Assistant||new day"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

// No text opens an element, wherever it is.
func FuzzEntries(f *testing.F) {
	for _, seed := range []string{"a", "<script>alert(1)</script>", "![a](b)", "| a |\n|--|\n| `<b>` |", "*** Begin Patch\n+<b>", `{"command":"<b>"}`, "\x1b[31m\u202e"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, said string) {
		said = strings.ToValidUTF8(said, "")
		quoted := string(transcript.AppendQuoted(nil, []byte(said)))
		events := []conversations.Event{
			event(1, transcript.Event{Kind: transcript.KindUser, Text: []byte(said)}),
			call(2, said, `{"file_path":`+quoted+`,"old_string":"","new_string":`+quoted+`}`), result(3, said),
			event(4, transcript.Event{Kind: transcript.KindToolCall, Name: "x", Arguments: []byte(`{"command":` + quoted + `}`)}),
			event(5, transcript.Event{Kind: transcript.KindSystem, Name: said, Text: []byte(said)}),
		}
		var b bytes.Buffer
		templates := Templates()
		for _, e := range NewRenderer().Entries(events) {
			if err := templates.ExecuteTemplate(&b, "entry", e); err != nil {
				t.Fatal(err)
			}
		}
		for i, after := range strings.Split(b.String(), "<")[1:] {
			name, _, _ := strings.Cut(strings.TrimPrefix(after, "/"), ">")
			name, _, _ = strings.Cut(name, " ")
			if !strings.Contains(" article details summary span code a p h2 time div pre ins del em strong ul ol li blockquote hr br table tr th td ", " "+strings.TrimSpace(name)+" ") {
				t.Fatalf("element %d is %q in:\n%s", i, after, b.String())
			}
		}
	})
}

func TestBeginning(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"":                                  "",
		" \n\t ":                            "",
		"Implement this:\n\n# Plan: less\n": "Implement this: # Plan: less",
		strings.Repeat("é", 101):            strings.Repeat("é", 99) + "…",
		strings.Repeat("😀", 100):            strings.Repeat("😀", 100),
		strings.Repeat("a \n", 1<<20):       strings.TrimSuffix(strings.Repeat("a ", 50), " ") + "…",
		"a\x1b[31mb\u202ec":                 "a␛[31mb\\u{202E}c",
	} {
		if got := Beginning(said); got != want {
			t.Errorf("%.40q begins %q, want %q", said, got, want)
		}
	}
}
