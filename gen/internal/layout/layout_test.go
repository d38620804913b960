package layout

import (
	"bytes"
	"go/format"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lay lays out one declaration.
func lay(source []byte) ([]byte, bool) {
	var p printer
	ok := p.declaration(string(source))
	return p.out.Bytes(), ok
}

// TestGeneratedCode takes indentation and columns from what is generated in this
// module, and gets them back; nearly all of it without package go/format.
func TestGeneratedCode(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../../generated/*/*.go")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	inner := regexp.MustCompile(`(?m)^\t+`)
	columns := regexp.MustCompile(`(?m)(\w:?) {2,}`)
	known, all := 0, 0
	for _, name := range files {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if line, _, _ := bytes.Cut(source, []byte("\n")); !bytes.Contains(line, []byte("DO NOT EDIT")) {
			continue
		}
		for declaration := range bytes.SplitSeq(source, []byte("\n\n")) {
			declaration = append(bytes.Trim(declaration, "\n"), '\n')
			if bytes.HasPrefix(declaration, []byte("import (")) || bytes.HasSuffix(declaration, []byte("\"\n)\n")) {
				continue // in two groups, which is for who emits it
			}
			all++
			raw := columns.ReplaceAll(inner.ReplaceAll(declaration, nil), []byte("$1 "))
			got, ok := lay(bytes.TrimSpace(raw))
			if !ok {
				continue
			}
			known++
			if diff := cmp.Diff(string(declaration), string(got)); diff != "" {
				t.Errorf("%s (-gofmt +layout):\n%s", name, diff)
			}
		}
	}
	if known*10 < all*9 {
		t.Errorf("only %d of %d declarations are known", known, all)
	}
}

// TestSource has what generated code has not: each is either known and right, or left
// to package go/format.
func TestSource(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		source string
		known  bool
	}{
		{"func f () {\nx := a . b (c [0],d [1 : ],\"(\" + e,(f))\n}", true},
		{"func f (a,b int,c ... string) (x * T,err error) {\ng (c ...)\nreturn & T {A : 1},nil\n}", true},
		{"func f () {\ng (a + b)\nh (a + b,c)\nh (g (a + b),c)\nx := [] string {\"a\" + b,c}\n}", true},
		{"func f () {\nif a + b == c {\n}\n}", false},
		{"func f () {\nx := 2 * b\n}", false},
		{"func f () {\nif (a || b) {\n}\n}", false},
		{"func f () {\nx := a - b\n}", false},
		{"func f () {\nx := - 1\ny := a / b\n}", false},
		{"func f () {\nswitch {\n// Of the case.\ncase a: \n}\n}", false},
		{"// F lists:\n//  - one\nfunc F () {\n}", false},
		{"// # Heading\nfunc F () {\n}", false},
		{"var x = map [string] [] * T {\n\"a\" : {nil},\n}", true},
		{"type I interface{\n// F does.\nF (ctx context.Context) (* T,error)\n}", true},
		{"type S struct{\nA int\nBcd [] string\n// E is.\nE map [string] int\n}", true},
		{"type S struct{\nA int `json:\"a\"`\nBcd [] string `json:\"bcd\"`\n}", true},
		{"type S struct{\nA int `json:\"a\"`\nBcd [] string\n}", false},
		{"const (\nA = 1\nBcd = \"x\"\n)", true},
		{"func f () {\ng (h,func (n int) [] byte {\nreturn nil\n})\n}", true},
		{"func f () {\nreturn T {\nA : 1,\nBcd : [] int {\n1,\n},\nE : 2,\n}\n}", true},
		{"func f () {\nx := 'a'\ny := \"}{\\\"\"\nz := 1.5\n}", true},
		{"func f () {\n)\n}", false},
		{"func f () {", false},
	} {
		got, ok := lay([]byte(tc.source))
		want, err := format.Source([]byte(tc.source))
		switch {
		case ok != tc.known:
			t.Errorf("known %v:\n%s", ok, tc.source)
		case !ok:
			if all, allErr := Source([]byte(tc.source)); err == nil && (allErr != nil || string(all) != string(want)+"\n") {
				t.Errorf("%v; what is not known is not as gofmt has it:\n%s", allErr, all)
			}
		case err != nil:
			t.Errorf("%v:\n%s", err, tc.source)
		default:
			if diff := cmp.Diff(string(want)+"\n", string(got)); diff != "" {
				t.Errorf("%s\n(-gofmt +layout):\n%s", tc.source, diff)
			}
		}
	}
}

// TestSourceBetweenBlankLines has a blank line within a declaration.
func TestSourceBetweenBlankLines(t *testing.T) {
	t.Parallel()
	got, err := Source([]byte("package p\n\n\nfunc f () {\na ()\n\nb ()\n}\n"))
	if want := "package p\n\nfunc f() {\n\ta()\n\n\tb()\n}\n"; err != nil || string(got) != want {
		t.Errorf("%v:\n%s", err, got)
	}
	if _, err := Source([]byte("package p\n\nfunc {\n")); err == nil {
		t.Error("what is no Go is formatted")
	}
}
