package knowledge_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/convtools/convtools/runtime/knowledge"
)

// large makes a workspace with 20,000 subjects in 400 folders.
func large(b *testing.B) *knowledge.Base {
	b.Helper()
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "convtools.toml"), []byte(bigTopic), 0o644); err != nil {
		b.Fatal(err)
	}
	for f := range 400 {
		folder := filepath.Join(dir, "kb", fmt.Sprintf("t%02d", f/20), fmt.Sprintf("f%02d", f%20))
		if err := os.MkdirAll(folder, 0o755); err != nil {
			b.Fatal(err)
		}
		for n := range 50 {
			if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("s%02d.md", n)), []byte("# Some subject\n"), 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	base, err := knowledge.Open(dir, knowledge.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return base
}

func BenchmarkLarge(b *testing.B) {
	base := large(b)
	ctx := context.Background()
	for name, call := range map[string]func() error{
		"list":     func() error { _, err := base.Learn(ctx, "big", nil, nil); return err },
		"exact":    func() error { _, err := base.Learn(ctx, "big", []string{"t10/f10/s10"}, nil); return err },
		"folder":   func() error { _, err := base.Learn(ctx, "big", []string{"t10/f10/*"}, nil); return err },
		"all":      func() error { _, err := base.Learn(ctx, "big", []string{"**"}, nil); return err },
		"describe": func() error { base.Describe(ctx, learnTool(), knowledge.MCPDescription); return nil },
		"section":  func() error { _, _, err := base.Section(ctx); return err },
		"check":    func() error { _, err := base.Check(ctx); return err },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := call(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
