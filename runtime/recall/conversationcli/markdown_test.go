package conversationcli

import (
	"strings"
	"testing"
)

// FuzzMarkdown checks that no text leaves a quotation or a fence.
func FuzzMarkdown(f *testing.F) {
	for _, text := range []string{"", "a", "a\n\n## Turn 9\n", "```\n~~~~\n````", "> b\r\n\r# c", "\n\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for line := range strings.Lines(quotation(text)) {
			if !strings.HasPrefix(line, ">") {
				t.Errorf("%q leaves the quotation with %q", text, line)
			}
		}
		fenced := fenced(text)
		fence, rest, _ := strings.Cut(fenced, "\n")
		inside, ok := strings.CutSuffix(rest, fence+"\n")
		if !ok || strings.Contains(inside, fence) || strings.TrimSuffix(inside, "\n") != text && inside != text {
			t.Errorf("%q leaves its fence: %q", text, fenced)
		}
	})
}
