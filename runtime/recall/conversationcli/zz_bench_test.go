package conversationcli_test

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	people "github.com/convtools/convtools/runtime/cli/program"
	"github.com/convtools/convtools/runtime/recall/conversationcli"
	"github.com/convtools/convtools/runtime/toolset"
)

func BenchmarkZZ(b *testing.B) {
	host := &toolset.Host{
		Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Now: time.Now,
		Getenv: os.Getenv,
	}
	args := strings.Fields(os.Getenv("ZZARGS"))
	b.ReportAllocs()
	for b.Loop() {
		line := people.CommandLine{Host: host, Registry: new(toolset.Registry), Commands: func() []*cobra.Command { return []*cobra.Command{conversationcli.Command(host)} }}
		if code := line.Run(b.Context(), args); code != 0 {
			b.Fatalf("conversation %v: exit code %d", args, code)
		}
	}
}
