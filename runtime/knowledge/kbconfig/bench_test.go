package kbconfig

import (
	"fmt"
	"strings"
	"testing"
)

func BenchmarkLoad(b *testing.B) {
	var src strings.Builder
	for i := range 20 {
		fmt.Fprintf(&src, "[kb.topic.topic%d]\ntitle = \"Topic %d\"\nintroduction = \"What it is about.\"\nsubjects = \".jp/kb/topic%d\"\nlearned = [\"style/**\"]\n\n", i, i, i)
	}
	w := newWorkspace(b, map[string]string{".jp/config.toml": "[conversation]\ntitle = 'x'\n", "convtools.toml": src.String()})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.load(); err != nil {
			b.Fatal(err)
		}
	}
}
