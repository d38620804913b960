package tomlpos

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/convtools/convtools/runtime/base/diag"
)

func FuzzScan(f *testing.F) {
	for _, seed := range []string{
		"",
		"a = 1",
		"\uFEFFa = 1 # mark",
		"\xFF\xFEa = 1",
		"name = 'x'\r\n[t]\r\nk = \"\"\"\r\na\\\r\n  b\"\"\"\r\n",
		"[[p]]\nname = 'a'\n[p.sub]\nx = 1\n[[p.q]]\n[[p]]\nname = 'b'\n[[p.q]]\n[[p.q]]\ny = 2\n",
		"a.b.c = 1\na.b.d = 2\n'a b'.\"c\\u00e9\" = 3\n\"\" = 4\n",
		"a = [1, [2, [3]], [], [{b = 1}, {b = {c = [{d = 1}]}}]]",
		"a = [\n  1, # one\n  2,\n]\nb = [ [ 'x' ], [ \"y\" ] ]",
		"a = { b = 1, c.d = 2, e = {} }\nf = {\n  g = 1, # x\n  h = 2,\n}\n",
		`a = """"quoted""""` + "\n" + `b = """""two"""""` + "\n" + `c = ''''x'''''` + "\n" + `d = """\""""` + "\n" + `e = """"""`,
		"a = \"\\e\\x41\\u00e9\\U0001F600\\\"\\\\\"\nb = 'c:\\dir'\n",
		"a = 1979-05-27T07:32:00Z\nb = 1979-05-27 07:32:00.999\nc = 1979-05-27\nd = 07:32:00\ne = [07:32, 1979-05-27 07:32]\n",
		"a = [0xDEAD_BEEF, 0o755, 0b11, -1_000, +3.14e-10, inf, -nan, true, false]",
		"[servers.alpha]\nip = '10.0.0.1'\n[servers]\nx = 1\n[servers.beta]\n[ j . \"ʞ\" . 'l' ]\n",
		"日本 = 1",
		"\"日本語\" = \"e\u0301 👩‍👩‍👧 \u202e\"\t# コメント\n",
		"a = 'unterminated\nb = 1",
		"a = [1, {b = 2",
		"a = 1\na = 2\n[a]\n[[a]]\n",
		"=\n[\n]]\n,{}\n\"\\",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, src string) { checkDocument(t, src) })
}

// checkDocument compares the scanner with the decoder on any text, and reports whether it came to the end. Whatever
// the text is, all places must lie inside it. When both accept it, the text at each place must be what the decoder
// decoded there.
func checkDocument(t *testing.T, src string) bool {
	t.Helper()
	x := Scan([]byte(src))
	checkSpans(t, x, src)
	list, whole := x.Statements()
	var document map[string]any
	if _, err := toml.Decode(src, &document); err != nil || !whole {
		return whole
	}
	for i, st := range list {
		if st.End <= st.Start || i > 0 && st.Start <= list[i-1].End || !st.Header && (st.Value <= st.Start || st.Value >= st.End) {
			t.Fatalf("statement %d of %q stands at %+v", i, src, st)
		}
	}
	checkValue(t, x, src, nil, document)
	return true
}

// checkValue looks up everything that was decoded, and decodes the text of each key and value on its own.
func checkValue(t *testing.T, x *Index, src string, path Path, value any) {
	t.Helper()
	if len(path) > 0 {
		if name, ok := path[len(path)-1].(string); ok {
			place, ok := x.Key(path)
			if !ok {
				t.Fatalf("the key %v in %q is nowhere", path, src)
			}
			decodesTo(t, src, textAt(src, place)+" = 1", map[string]any{name: int64(1)})
		}
	}
	switch value := value.(type) {
	case map[string]any:
		for key, v := range value {
			checkValue(t, x, src, path.Key(key), v)
		}
	case []map[string]any:
		for i, v := range value {
			checkValue(t, x, src, path.Elem(i), v)
		}
	case []any:
		for i, v := range value {
			checkValue(t, x, src, path.Elem(i), v)
		}
	default:
		decodesTo(t, src, "v = "+textAt(src, x.Lookup(path)), map[string]any{"v": value})
	}
}

func decodesTo(t *testing.T, src, part string, want map[string]any) {
	t.Helper()
	var got map[string]any
	if _, err := toml.Decode(part, &got); err != nil {
		t.Fatalf("%q, cut from %q, does not stand alone: %v", part, src, err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateNaNs()); diff != "" {
		t.Fatalf("%q, cut from %q, differs (-document +part):\n%s", part, src, diff)
	}
}

// checkSpans checks that every place the index knows is a non-empty part of the text.
func checkSpans(t *testing.T, x *Index, src string) {
	t.Helper()
	lines := strings.Split(strings.TrimPrefix(src, "\uFEFF"), "\n")
	inside := func(line, col int) bool {
		return line >= 1 && line <= len(lines) && col >= 1 && col <= utf8.RuneCountInString(lines[line-1])+1
	}
	check := func(what string, span diag.Span) {
		if !inside(span.Line, span.Col) || !inside(span.EndLine, span.EndCol) || textAt(src, span) == "" {
			t.Fatalf("%s of %q stands at %+v", what, src, span)
		}
	}
	var walk func(path Path, n *node)
	walk = func(path Path, n *node) {
		if span, ok := x.Key(path); ok {
			check(fmt.Sprint("key ", path), span)
		}
		if span, ok := x.position(n.value, true); ok {
			check(fmt.Sprint("value ", path), span)
		}
		for step, c := range n.children {
			walk(append(slices.Clip(path), step), c)
		}
	}
	walk(nil, x.root)
}
