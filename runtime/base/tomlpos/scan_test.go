package tomlpos

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/base/diag"
)

// textAt returns the text of a span, found by counting runes the way an editor does.
func textAt(src string, span diag.Span) string {
	src = strings.TrimPrefix(src, "\uFEFF")
	offset := func(line, col int) int {
		at := 0
		for range line - 1 {
			at += strings.IndexByte(src[at:], '\n') + 1
		}
		for i := range src[at:] {
			if col--; col == 0 {
				return at + i
			}
		}
		return len(src)
	}
	return src[offset(span.Line, span.Col):offset(span.EndLine, span.EndCol)]
}

func place(span diag.Span) string { return fmt.Sprintf("%d:%d", span.Line, span.Col) }

func TestPlaces(t *testing.T) {
	t.Parallel()
	var root Path
	tests := []struct {
		name  string
		src   string
		path  Path
		key   string // "line:col text", or "" for unknown
		value string
	}{
		{"root", "a = 1", root, "", ""},
		{"bare key", "a = 1", root.Key("a"), "1:1 a", "1:5 1"},
		{"indented, comment", "# x\n\n\t a=\ttrue# no", root.Key("a"), "3:3 a", "3:6 true"},
		{"unknown key", "a = 1", root.Key("b"), "", ""},
		{"key is not an element", "a = 1", root.Elem(0), "", ""},
		{"quoted keys", "\"a b\".'c.d' = 1", root.Key("a b").Key("c.d"), "1:7 'c.d'", "1:15 1"},
		{"escaped key", `"\u00e9\x41\e\"" = 1`, root.Key("éA\x1b\""), `1:1 "\u00e9\x41\e\""`, "1:20 1"},
		{"empty key", `"" = 1`, root.Key(""), `1:1 ""`, "1:6 1"},
		{"dotted, blanks", "a . b\t. c = 1", root.Key("a").Key("b").Key("c"), "1:9 c", "1:13 1"},
		{"dotted, implied table", "a . b = 1", root.Key("a"), "1:1 a", "1:1 a"},
		{"header", "[ a . b ]\nc = 1", root.Key("a").Key("b"), "1:7 b", "1:1 [ a . b ]"},
		{"implied by a header", "[a.b]", root.Key("a"), "1:2 a", "1:2 a"},
		{"header after implied", "[a.b]\n[a]", root.Key("a"), "2:2 a", "2:1 [a]"},
		{"key in a header", "[a.b]\nc = 1", root.Key("a").Key("b").Key("c"), "2:1 c", "2:5 1"},
		{"array of tables", "[[a]]\n[[a]]", root.Key("a"), "1:3 a", "1:1 [[a]]"},
		{"second element", "[[a]]\nn=1\n[[ a ]]\nn=2", root.Key("a").Elem(1), "3:4 a", "3:1 [[ a ]]"},
		{"key in second element", "[[a]]\nn=1\n[[a]]\nn=2", root.Key("a").Elem(1).Key("n"), "4:1 n", "4:3 2"},
		{"no third element", "[[a]]\n[[a]]", root.Key("a").Elem(2), "", ""},
		{"negative element", "[[a]]\n[[a]]", root.Key("a").Elem(-1), "", ""},
		{"table under last element", "[[a]]\n[[a]]\n[a.b]\nc=1", root.Key("a").Elem(1).Key("b").Key("c"), "4:1 c", "4:3 1"},
		{"not under the first", "[[a]]\n[[a]]\n[a.b]\nc=1", root.Key("a").Elem(0).Key("b"), "", ""},
		{"arrays in arrays", "[[a]]\n[[a.b]]\n[[a.b]]\n[[a]]\n[[a.b]]\nc=1", root.Key("a").Elem(1).Key("b").Elem(0).Key("c"), "6:1 c", "6:3 1"},
		{"inline table", "a = {b = 1, c.d = {e = 2}}", root.Key("a").Key("c").Key("d").Key("e"), "1:20 e", "1:24 2"},
		{"whole inline table", "a = { b = 1 } # x", root.Key("a"), "1:1 a", "1:5 { b = 1 }"},
		{"array", "a = [1, [2, 3], 4]", root.Key("a").Elem(1).Elem(0), "", "1:10 2"},
		{"array over lines", "a = [\n  1, # one\n  2,\n]", root.Key("a").Elem(1), "", "3:3 2"},
		{"after an array over lines", "a = [\n  1,\n]\nb = 2", root.Key("b"), "4:1 b", "4:5 2"},
		{"tables in an array", "a = [{n = 1},\n {n = 2}]", root.Key("a").Elem(1).Key("n"), "2:3 n", "2:7 2"},
		{"inline table over lines", "a = {\r\n  b = 1, # x\r\n  c = 2,\r\n}\r\nd = 3", root.Key("a").Key("c"), "3:3 c", "3:7 2"},
		{"after it", "a = {\r\n  b = 1, # x\r\n  c = 2,\r\n}\r\nd = 3", root.Key("d"), "5:1 d", "5:5 3"},
		{"basic string", `a = "x # \" ] y"`, root.Key("a"), "1:1 a", `1:5 "x # \" ] y"`},
		{"backslash at the end", `a = "\\" # "`, root.Key("a"), "1:1 a", `1:5 "\\"`},
		{"literal string", `a = 'c:\' # '`, root.Key("a"), "1:1 a", `1:5 'c:\'`},
		{"multi-line basic", "a = \"\"\"\nx = 1\n\\\"\"\" \\\\\"\"\"\nb = 2", root.Key("a"), "1:1 a", "1:5 \"\"\"\nx = 1\n\\\"\"\" \\\\\"\"\""},
		{"quotes at the end", `a = """say ""hi"""""`, root.Key("a"), "1:1 a", `1:5 """say ""hi"""""`},
		{"one quote at the end", "a = '''it''s'''' # '''\nb=1", root.Key("a"), "1:1 a", "1:5 '''it''s''''"},
		{"empty multi-line", `a = """"""`, root.Key("a"), "1:1 a", `1:5 """"""`},
		{"only quotes", `a = """""""" # 2`, root.Key("a"), "1:1 a", `1:5 """"""""`},
		{"after a multi-line string", "a = '''\nb = 1\n'''\nb = 2", root.Key("b"), "4:1 b", "4:5 2"},
		{"date", "a = 1979-05-27 # x", root.Key("a"), "1:1 a", "1:5 1979-05-27"},
		{"date and time", "a = 1979-05-27 07:32:00.5-07:00", root.Key("a"), "1:1 a", "1:5 1979-05-27 07:32:00.5-07:00"},
		{"dates in an array", "a = [1979-05-27 , 1979-05-27T07:32:00Z ]", root.Key("a").Elem(1), "", "1:19 1979-05-27T07:32:00Z"},
		{"numbers", "a = [+1_0.5e-3, 0xFF, -inf, nan]", root.Key("a").Elem(2), "", "1:23 -inf"},
		{"columns are code points", "\"日本e\u0301👩‍👩‍👧\" = 'x'", root.Key("日本e\u0301👩‍👩‍👧"), "1:1 \"日本e\u0301👩‍👩‍👧\"", "1:15 'x'"},
		{"byte order mark", "\uFEFFa = 1", root.Key("a"), "1:1 a", "1:5 1"},
		{"CRLF", "a = 1\r\n\r\n[b]\r\nc = 'x'\r\n", root.Key("b").Key("c"), "4:1 c", "4:5 'x'"},
		{"cut off in a value", "a = 1\nb = [1, {c = 'x", root.Key("b").Elem(0), "", ""},
		{"cut off, the value", "a = 1\nb = [1, {c = 'x", root.Key("b"), "", ""},
		{"cut off, before", "a = 1\nb = [1, {c = 'x", root.Key("a"), "1:1 a", "1:5 1"},
		{"cut off, unknown after", "a = 1\n] b = 1\nc = 2", root.Key("c"), "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			x := Scan([]byte(test.src))
			show := func(span diag.Span, ok bool) string {
				if !ok {
					if !span.IsZero() {
						t.Errorf("unknown place is %+v, want the zero Span", span)
					}
					return ""
				}
				return place(span) + " " + textAt(test.src, span)
			}
			if got := show(x.Key(test.path)); got != test.key {
				t.Errorf("Key(%v) = %q, want %q", test.path, got, test.key)
			}
			n, ok := x.find(test.path)
			if got := show(x.position(n.value, ok)); got != test.value {
				t.Errorf("the value of %v = %q, want %q", test.path, got, test.value)
			}
		})
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	const src = "a.b = 1\n[[p]]\nname = 'x'\n[[p]]\nitems = { type = 'y' }\n"
	x := Scan([]byte(src))
	var root Path
	tests := []struct {
		path Path
		want string
	}{
		{root.Key("a").Key("b"), "1"},
		{root.Key("a").Key("c"), "a"},
		{root.Key("p").Elem(0).Key("name"), "'x'"},
		{root.Key("p").Elem(0).Key("type"), "[[p]]"},
		{root.Key("p").Elem(1).Key("items").Key("enum").Elem(3).Key("z"), "{ type = 'y' }"},
		{root.Key("p").Elem(2), "[[p]]"},
	}
	for _, test := range tests {
		if got := textAt(src, x.Lookup(test.path)); got != test.want {
			t.Errorf("Lookup(%v) is at %q, want %q", test.path, got, test.want)
		}
	}
	if got := x.Lookup(root.Key("p").Elem(1).Key("name")).Line; got != 4 {
		t.Errorf("a key missing from the second element is looked up on line %d, want its header on line 4", got)
	}
	for _, path := range []Path{nil, root.Key("q"), root.Key("q").Key("r")} {
		if got := x.Lookup(path); !got.IsZero() {
			t.Errorf("Lookup(%v) = %+v, want the whole file", path, got)
		}
	}
}

func TestStatements(t *testing.T) {
	t.Parallel()
	type statement struct {
		header, array     bool
		name, text, value string
	}
	for _, test := range []struct {
		src   string
		whole bool
		want  []statement
	}{
		{src: "", whole: true},
		{src: "# a\n\n", whole: true},
		{
			src:   "\uFEFF a.\"b c\" = {d = 1} # x\r\n[ e . 'f' ]# y\ng=[\n1, # z\n]\n[[h]]",
			whole: true,
			want: []statement{
				{name: "a,b c", text: "a.\"b c\" = {d = 1}", value: "{d = 1}"},
				{header: true, name: "e,f", text: "[ e . 'f' ]"},
				{name: "g", text: "g=[\n1, # z\n]", value: "[\n1, # z\n]"},
				{header: true, array: true, name: "h", text: "[[h]]"},
			},
		},
		{src: "a = 1\nb = \nc = 1", want: []statement{{name: "a", text: "a = 1", value: "1"}}},
		{src: "a = 1\n[b", want: []statement{{name: "a", text: "a = 1", value: "1"}}},
	} {
		list, whole := Scan([]byte(test.src)).Statements()
		var got []statement
		for _, st := range list {
			one := statement{header: st.Header, array: st.Array, name: strings.Join(st.Name, ","), text: test.src[st.Start:st.End]}
			if !st.Header {
				one.value = test.src[st.Value:st.End]
			}
			got = append(got, one)
		}
		if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(statement{})); diff != "" || whole != test.whole {
			t.Errorf("%q: whole %v (-want +got):\n%s", test.src, whole, diff)
		}
	}
}

// A path grown from another must not change a third that shares its beginning.
func TestPathsDoNotShare(t *testing.T) {
	t.Parallel()
	base := Path{}.Key("a").Elem(2).Key("b c")
	left, fourth, right := base.Key("left"), base.Elem(4), base.Key("right")
	want := []Path{{"a", 2, "b c"}, {"a", 2, "b c", "left"}, {"a", 2, "b c", 4}, {"a", 2, "b c", "right"}}
	if diff := cmp.Diff(want, []Path{base, left, fourth, right}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func height(n *node) int {
	h := 0
	for _, c := range n.children {
		h = max(h, 1+height(c))
	}
	return h
}

func TestScanIsBounded(t *testing.T) {
	t.Parallel()
	const n = 20_000
	for name, src := range map[string]string{
		"arrays":           "ok = 1\na = " + strings.Repeat("[", n),
		"inline tables":    "ok = 1\na = " + strings.Repeat("{a=", n),
		"dotted key":       "ok = 1\n" + strings.Repeat("a.", n) + "a = 1",
		"header":           "ok = 1\n[" + strings.Repeat("a.", n) + "a]",
		"nested headers":   "ok = 1\n" + strings.Repeat("[["+strings.Repeat("a.", maxNames/2)+"a]]\n", n/maxNames),
		"unterminated":     "ok = 1\na = \"\"\"" + strings.Repeat(`\"`, n),
		"many elements":    "ok = 1\n" + strings.Repeat("[[a]]\n[[a.b]]\n", n),
		"deepening tables": "ok = 1\n" + strings.Repeat("[[a]]\n[a.a]\n[[a.a.a]]\n", n),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := Scan([]byte(src))
			if got := x.Lookup(Path{}.Key("ok")); got != (diag.Span{Line: 1, Col: 6, EndLine: 1, EndCol: 7}) {
				t.Error("what stands before the trouble is lost")
			}
			if got := height(x.root); got > 2*maxNames {
				t.Errorf("a path has %d steps", got)
			}
		})
	}
}

// The decoder's module brings the TOML conformance suite along; every valid document in it must be understood.
func TestConformanceSuite(t *testing.T) {
	t.Parallel()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/BurntSushi/toml").Output()
	if err != nil {
		t.Skipf("cannot find the decoder's module: %v", err)
	}
	root := filepath.Join(strings.TrimSpace(string(dir)), "internal", "toml-test", "tests", "valid")
	var files int
	err = filepath.WalkDir(root, func(name string, entry os.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".toml" {
			return err
		}
		files++
		t.Run(filepath.Base(name), func(t *testing.T) {
			src, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if !checkDocument(t, string(src)) {
				t.Error("the scanner does not come to the end")
			}
		})
		return nil
	})
	if err != nil {
		t.Skipf("cannot read the conformance suite: %v", err)
	}
	if files < 100 {
		t.Errorf("found %d documents in %s, expected hundreds", files, root)
	}
}

func BenchmarkScan(b *testing.B) {
	src := []byte(strings.Repeat("[[rules]] # a rule\nname = \"conversation_list\"\nkinds = ['a', 'b', { c = 1.5, d = 1979-05-27 }]\n"+
		"text = \"\"\"\nSeveral lines of prose, \\\"quoted\\\",\nas descriptions have.\n\"\"\"\n", 500))
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		Scan(src)
	}
}

func TestDeep(t *testing.T) {
	t.Parallel()
	names := strings.Repeat("a.", maxNames-1)
	for _, tt := range []struct {
		src  string
		want int // column of the name that is too deep; 0 where none is
	}{
		{names + "c = 1", 0},
		{names + "c.d = 1", 257},
		{"[" + names + "b]\nc.d = 1", 1},
		{"[" + names + "b]\n", 0},
		{"[" + names + "b.'d e']", 258},
		{names + "b = [{c = 1}, {c = {d = 1}}]", 261},
	} {
		span, ok := Scan([]byte(tt.src)).Deep()
		if ok != (tt.want > 0) || ok && span.Col != tt.want {
			t.Errorf("%s: deep at %v, %v; want column %d", tt.src, span, ok, tt.want)
		}
	}
	for _, open := range []string{"[", "{a = ", "[{a = "} {
		if _, ok := Scan([]byte("a = " + strings.Repeat(open, 10_001))).Deep(); !ok {
			t.Errorf("many %s are not deep", open)
		}
	}
}
