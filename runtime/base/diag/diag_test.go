package diag

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSorted(t *testing.T) {
	t.Parallel()
	want := List{
		{Message: "no file"},
		{File: "a.toml", Rule: "R9", Message: "whole file"},
		{File: "a.toml", Span: Span{2, 1, 2, 5}, Rule: "R2", Message: "m"},
		{File: "a.toml", Span: Span{2, 1, 2, 9}, Rule: "R1", Message: "m"},
		{File: "a.toml", Span: Span{2, 3, 2, 4}, Rule: "R1", Message: "m"},
		{File: "a.toml", Span: Span{10, 1, 10, 1}, Rule: "R1", Message: "m"},
		{File: "a.toml", Span: Span{10, 1, 10, 1}, Rule: "R1", Message: "n", Hint: "x"},
		{File: "a.toml", Span: Span{10, 1, 10, 1}, Rule: "R1", Message: "n", Hint: "y"},
		{File: "a.toml", Span: Span{10, 1, 10, 1}, Rule: "R2", Message: "a"},
		{File: "a.toml", Span: Span{10, 1, 10, 1}, Rule: "R2", Message: "a", Severity: Warning},
		{File: "b.toml", Span: Span{1, 1, 1, 1}, Message: "m"},
	}
	for range 50 {
		list := append(append(List{}, want...), want[2], want[7])
		rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		before := append(List{}, list...)
		if diff := cmp.Diff(want, list.Sorted()); diff != "" {
			t.Fatalf("Sorted() differs (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(before, list); diff != "" {
			t.Fatalf("Sorted() changed the list itself:\n%s", diff)
		}
	}
}

func TestHasErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		list List
		want bool
	}{
		{nil, false},
		{List{{Severity: Warning}, {Severity: Note}}, false},
		{List{{Severity: Warning}, {Severity: Error}}, true},
		{List{{}}, true},
	} {
		if got := test.list.HasErrors(); got != test.want {
			t.Errorf("%v.HasErrors() = %v, want %v", test.list, got, test.want)
		}
	}
}

func TestDiagnosticString(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		d    Diagnostic
		want string
	}{
		{Diagnostic{File: "a.toml", Span: Span{12, 9, 12, 12}, Rule: "SP003", Message: "bad"}, "a.toml:12:9: error: bad [SP003]"},
		{Diagnostic{File: "a.toml", Severity: Warning, Message: "bad"}, "a.toml: warning: bad"},
		{Diagnostic{Severity: Note, Message: "fine"}, "note: fine"},
		{
			Diagnostic{File: "a\x1b.toml", Rule: "R\n", Message: "x\r\nb.toml:1:1: error: \x9b\u009b\u202e\U000E0041\u00a0é日"},
			"a<U+001B>.toml: error: x<U+000D><U+000A>b.toml:1:1: error: <0x9B><U+009B><U+202E><U+E0041><U+00A0>é日 [R<U+000A>]",
		},
	} {
		if got := test.d.String(); got != test.want {
			t.Errorf("String() = %s\nwant       %s", got, test.want)
		}
	}
}

func TestSourceSpan(t *testing.T) {
	t.Parallel()
	const text = "\uFEFFab\r\né日\xffx\n\ttail"
	//            0     3 5  7  9 12  13 1415
	for _, test := range []struct {
		start, end int
		want       Span
	}{
		{3, 4, Span{1, 1, 1, 2}},
		{0, 3, Span{1, 1, 1, 1}},
		{-5, 5, Span{1, 1, 1, 3}},
		{5, 6, Span{1, 3, 1, 3}},
		{6, 7, Span{1, 3, 2, 1}},
		{7, 9, Span{2, 1, 2, 2}},
		{9, 12, Span{2, 2, 2, 3}},
		{12, 14, Span{2, 3, 2, 5}},
		{14, 15, Span{2, 5, 3, 1}},
		{16, 20, Span{3, 2, 3, 6}},
		{16, 99, Span{3, 2, 3, 6}},
		{99, 0, Span{3, 6, 3, 6}},
	} {
		if got := NewSource([]byte(text)).Span(test.start, test.end); got != test.want {
			t.Errorf("Span(%d, %d) = %v, want %v", test.start, test.end, got, test.want)
		}
	}
	for _, text := range []string{"", "\uFEFF"} {
		if got, want := NewSource([]byte(text)).Span(0, 9), (Span{1, 1, 1, 1}); got != want {
			t.Errorf("Span(0, 9) of %q = %v, want %v", text, got, want)
		}
	}
}
