package subjects_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

// largeTree makes a topic of 20,000 subjects in 400 directories, which is the
// most a topic may have.
func largeTree(tb testing.TB) string {
	tb.Helper()
	dir := tb.TempDir()
	for d := range 400 {
		sub := filepath.Join(dir, fmt.Sprintf("t%02d/s%02d", d/20, d%20))
		if err := os.MkdirAll(sub, 0o755); err != nil {
			tb.Fatal(err)
		}
		for i := range 50 {
			if err := os.WriteFile(filepath.Join(sub, fmt.Sprintf("subject-%02d.md", i)), []byte("# Subject\n"), 0o600); err != nil {
				tb.Fatal(err)
			}
		}
	}
	return dir
}

func BenchmarkScan(b *testing.B) {
	dir := largeTree(b)
	b.Run("scan", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			tree, err := subjects.Scan(b.Context(), root(b, dir))
			if err != nil || len(tree.Subjects) != 20_000 {
				b.Fatal(len(tree.Subjects), err)
			}
			tree.Close()
		}
	})
	// What reading the directories costs a program that does nothing with them and
	// guards against nothing.
	b.Run("plain walk", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			n := 0
			err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
				if err == nil && !d.IsDir() {
					n++
				}
				return err
			})
			if err != nil || n != 20_000 {
				b.Fatal(n, err)
			}
		}
	})
}

func BenchmarkLook(b *testing.B) {
	tree, err := subjects.Scan(b.Context(), root(b, largeTree(b)))
	if err != nil {
		b.Fatal(err)
	}
	defer tree.Close()
	all := make([]*subjects.Subject, len(tree.Subjects))
	for i := range all {
		all[i] = tree.Subjects[i]
	}
	for _, n := range []int{2_000, 20_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := tree.Look(b.Context(), all[:n]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
