package subjects_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

// Reading many files says of each what reading it alone does, in their order.
func TestContentsAgreeWithRead(t *testing.T) {
	t.Parallel()
	files := map[string]string{"binary": "a\x00b", "dir/binary": "\x00" + strings.Repeat("x", 200<<10), "empty.md": "", "dir/large.md": strings.Repeat("x", 200<<10)}
	for n, size := range []int{-1, 0, 1} { // around what is read ahead of being asked for
		files[fmt.Sprintf("dir/edge-%d.txt", n)] = strings.Repeat("y", 64<<10+size)
	}
	for n := range 700 {
		files[fmt.Sprintf("d%d/e%d/f%03d.go", n%3, n%2, n)] = fmt.Sprintf("package f%d\n", n)
	}
	dir := topic(t, files)
	_ = os.Symlink("../d0/e0/f000.go", filepath.Join(dir, "dir/link.go"))
	_ = os.Symlink("large.md", filepath.Join(dir, "dir/link.md"))
	tree := scan(t, dir)
	for _, gone := range []string{"d1/e1/f001.go", "dir/edge-1.txt"} {
		if err := os.Remove(filepath.Join(dir, filepath.FromSlash(gone))); err != nil {
			t.Fatal(err)
		}
	}
	var of []*subjects.Subject
	for i := range tree.Subjects {
		of = append(of, &tree.Subjects[i])
	}
	n, failed := 0, 0
	for got, gotErr := range tree.Contents(soon(t), of, always) {
		want, wantErr := tree.Read(soon(t), of[n])
		if diff := cmp.Diff(want, got); diff != "" || fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
			t.Fatalf("%s: %v, want %v; -want +got:\n%.1000s", of[n].Path, gotErr, wantErr, diff)
		}
		if n++; gotErr != nil {
			failed++
		}
	}
	if n != len(of) || failed != 2 {
		t.Errorf("%d of %d subjects, %d errors", n, len(of), failed)
	}
	for range tree.Contents(soon(t), nil, always) {
		t.Error("something of nothing")
	}
}

func TestContentsEnd(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for n := range 600 {
		files[fmt.Sprintf("f%03d", n)] = "x"
	}
	tree := scan(t, topic(t, files))
	var of []*subjects.Subject
	for i := range tree.Subjects {
		of = append(of, &tree.Subjects[i])
	}
	for range tree.Contents(soon(t), of, always) {
		break
	}
	ctx, cancel := context.WithCancel(soon(t))
	defer cancel()
	n := 0
	var last error
	for _, err := range tree.Contents(ctx, of, always) {
		if n++; n == 10 {
			cancel()
		}
		last = err
	}
	if !errors.Is(last, context.Canceled) || n != 11 {
		t.Errorf("after %d: %v", n, last)
	}
}

func always(int64) bool { return true }

// What there is no room for is not read, and what is binary does not ask for room.
func TestContentsWithoutRoom(t *testing.T) {
	t.Parallel()
	tree := scan(t, topic(t, map[string]string{
		"a.md": "small", "b.md": strings.Repeat("x", 100<<10), "c": "\x00" + strings.Repeat("x", 100<<10), "d.md": strings.Repeat("x", 90<<10),
	}))
	var asked []int64
	got := map[string]bool{}
	n := 0
	for c, err := range tree.Contents(soon(t), []*subjects.Subject{&tree.Subjects[0], &tree.Subjects[1], &tree.Subjects[2], &tree.Subjects[3]}, func(size int64) bool {
		asked = append(asked, size)
		return size < 100<<10
	}) {
		if err != nil {
			t.Fatal(err)
		}
		got[fmt.Sprintf("%s unread %t binary %t text %t %d", tree.Subjects[n].Path, c.Unread, c.Binary, c.Text != "", c.Size)] = true
		n++
	}
	want := map[string]bool{
		"a.md unread false binary false text true 5": true, "b.md unread true binary false text false 102400": true,
		"c unread false binary true text false 102401": true, "d.md unread false binary false text true 92160": true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]int64{100 << 10, 90 << 10}, asked); diff != "" {
		t.Errorf("asked for room: -want +got:\n%s", diff)
	}
}
