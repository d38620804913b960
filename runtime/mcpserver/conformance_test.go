package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// anything stands for a value that a conformance file does not pin down.
const anything = "…"

// TestConformance plays the sessions in testdata/conformance: lines with > are
// sent, with the escapes of Go where >q begins them; the lines with < that follow
// are what the server has to answer, in any order. After the last line the input
// ends, and the server may say no more.
func TestConformance(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/conformance/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no conformance files: %v", err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar")+"/"+f.Name, func(t *testing.T) {
				t.Parallel()
				play(t, string(f.Data))
			})
		}
	}
}

func play(t *testing.T, script string) {
	cfg := newTools().config()
	if rest, ok := strings.CutPrefix(script, "structured\n"); ok {
		script, cfg.Structured = rest, true
	}
	s := start(t, cfg)
	var want []any
	check := func() {
		got := make([]any, 0, len(want))
		for range want {
			line, ok := <-s.lines
			if !ok {
				t.Fatalf("the server closed its output; still expected: %v", want)
			}
			var v any
			if err := json.Unmarshal([]byte(line), &v); err != nil {
				t.Fatalf("the server wrote %q: %v", line, err)
			}
			got = append(got, v)
		}
		for _, w := range want {
			i := slices.IndexFunc(got, func(g any) bool { return cmp.Equal(w, mask(w, g)) })
			if i < 0 {
				t.Errorf("missing answer (-want +got):\n%s", cmp.Diff(w, mask(w, closest(w, got))))
				continue
			}
			got = slices.Delete(got, i, i+1)
		}
		want = nil
	}
	for n, line := range strings.Split(script, "\n") {
		kind, text, _ := strings.Cut(line, " ")
		switch kind {
		case ">", ">q":
			check()
			if kind == ">q" {
				unquoted, err := strconv.Unquote(text)
				if err != nil {
					t.Fatalf("line %d: %v", n+1, err)
				}
				text = unquoted
			}
			s.send(text + "\n")
		case "<":
			var v any
			if err := json.Unmarshal([]byte(text), &v); err != nil {
				t.Fatalf("line %d: %v", n+1, err)
			}
			want = append(want, v)
		case "", "#":
		default:
			t.Fatalf("line %d begins with neither > nor <: %s", n+1, line)
		}
	}
	check()
	s.end()
}

// mask replaces in got what want does not pin down.
func mask(want, got any) any {
	switch w := want.(type) {
	case string:
		if w == anything && got != nil {
			return anything
		}
		g, ok := got.(string)
		if prefix, open := strings.CutSuffix(w, anything); ok && open && strings.HasPrefix(g, prefix) {
			return w
		}
	case map[string]any:
		if g, ok := got.(map[string]any); ok {
			masked := map[string]any{}
			for k, v := range g {
				masked[k] = mask(w[k], v)
			}
			return masked
		}
	case []any:
		if g, ok := got.([]any); ok && len(g) == len(w) {
			masked := make([]any, len(g))
			for i := range g {
				masked[i] = mask(w[i], g[i])
			}
			return masked
		}
	}
	return got
}

// closest is the message with the id of want.
func closest(want any, got []any) any {
	id := func(v any) string {
		m, _ := v.(map[string]any)
		return fmt.Sprint(m["id"])
	}
	for _, g := range got {
		if id(g) == id(want) {
			return g
		}
	}
	return got
}
