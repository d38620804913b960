package install_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/convtools/convtools/runtime/install"
)

// BenchmarkPlan plans to install in a file of 10 MB, as Claude Code's grows to
// be: on a line for each thing, and all on one line.
func BenchmarkPlan(b *testing.B) {
	for _, layout := range []struct{ name, eol string }{{"lines", "\n"}, {"one line", ""}} {
		b.Run(layout.name, func(b *testing.B) {
			d := newDesk(b)
			var text strings.Builder
			text.WriteString("{" + layout.eol + `"projects": {` + layout.eol)
			for i := range 10_000_000 / 100 {
				fmt.Fprintf(&text, `"%d": {"history": [{"display": "what was asked, and more of it", "pastedContents": {}}]},%s`, i, layout.eol)
			}
			text.WriteString(`"": {}` + layout.eol + "}" + layout.eol + "}" + layout.eol)
			d.write("home/.claude.json", text.String())
			b.SetBytes(int64(text.Len()))
			for b.Loop() {
				change, err := install.PlanInstall(host(b, "claude-code"), d.opts)
				if err != nil {
					b.Fatal(err)
				}
				if len(change.Diff()) > 2000 {
					b.Fatal("the diff is long")
				}
			}
		})
	}
}
