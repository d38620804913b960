package tomlpos

import (
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

// checkDocument compares the scanner with the decoder on any text. Whatever the text is, all places must lie inside
// it. When the decoder accepts it, both must see the same keys in the same order, and the text at each place must be
// what the decoder decoded there.
func checkDocument(t *testing.T, src string) {
	t.Helper()
	x := Scan([]byte(src))
	checkSpans(t, x, src)

	var document map[string]any
	meta, err := toml.Decode(src, &document)
	if err != nil || tooDeep(document, 0) {
		return
	}
	var want [][]string
	for _, key := range meta.Keys() {
		want = append(want, key)
	}
	if diff := cmp.Diff(want, keysOf(x), cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("keys differ in %q (-decoder +scanner):\n%s", src, diff)
	}
	list, whole := x.Statements()
	if !whole {
		t.Fatalf("the scanner does not come to the end of %q", src)
	}
	for i, st := range list {
		if st.End <= st.Start || i > 0 && st.Start <= list[i-1].End || !st.Header && (st.Value <= st.Start || st.Value >= st.End) {
			t.Fatalf("statement %d of %q stands at %+v", i, src, st)
		}
	}
	if !repeatsKey(x) {
		checkValue(t, x, src, nil, document)
	}
}

// keysOf returns the full name of every key in the order of the document, with array indexes left out: one entry for
// each header and each `key =`, repeated for each element of an array. For a document the decoder accepts it equals
// toml.MetaData.Keys of github.com/BurntSushi/toml v1.6.0, which has neither an entry for an implied table nor one
// for an element of an inline array:
//
//	[[p]]            p
//	a.b = 1          p.a.b
//	[[p]]            p
//	c = [{d = 1},    p.c, p.c.d
//	     {d = 2}]    p.c.d
func keysOf(x *Index) [][]string {
	keys := make([][]string, 0, len(x.keys))
	for _, n := range x.keys {
		name := make([]string, 0, n.depth)
		for ; n.parent != nil; n = n.parent {
			if !n.step.elem {
				name = append(name, n.step.key)
			}
		}
		slices.Reverse(name)
		keys = append(keys, name)
	}
	return keys
}

// repeatsKey reports whether a key is given twice. TOML forbids it; the decoder lets some cases pass, and which of
// the two values it then returns depends on the case.
func repeatsKey(x *Index) bool {
	seen := make(map[*node]bool)
	for _, n := range x.keys {
		if seen[n] {
			return true
		}
		seen[n] = true
	}
	return false
}

// tooDeep reports whether the scanner may stop before the end because a path has too many steps.
func tooDeep(value any, depth int) bool {
	if depth >= maxDepth-1 {
		return true
	}
	switch value := value.(type) {
	case map[string]any:
		for _, v := range value {
			if tooDeep(v, depth+1) {
				return true
			}
		}
	case []map[string]any:
		for _, v := range value {
			if tooDeep(v, depth+1) {
				return true
			}
		}
	case []any:
		for _, v := range value {
			if tooDeep(v, depth+1) {
				return true
			}
		}
	}
	return false
}

// checkValue looks up everything that was decoded, and decodes the text of each key and value on its own.
func checkValue(t *testing.T, x *Index, src string, path Path, value any) {
	t.Helper()
	if len(path) > 0 {
		place, ok := x.Value(path)
		if !ok {
			t.Fatalf("the value of %s in %q is nowhere", path, src)
		}
		if x.Lookup(path) != place {
			t.Errorf("Lookup(%s) is not its value in %q", path, src)
		}
		if last := path[len(path)-1]; !last.elem {
			place, ok := x.Key(path)
			if !ok {
				t.Fatalf("the key %s in %q is nowhere", path, src)
			}
			decodesTo(t, src, textAt(src, place)+" = 1", map[string]any{last.key: int64(1)})
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
		place, _ := x.Value(path)
		decodesTo(t, src, "v = "+textAt(src, place), map[string]any{"v": value})
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
			check("key "+path.String(), span)
		}
		if span, ok := x.Value(path); ok {
			check("value "+path.String(), span)
		}
		for key, c := range n.keys {
			walk(path.Key(key), c)
		}
		for i, c := range n.elems {
			walk(path.Elem(i), c)
		}
	}
	walk(nil, x.root)
}
