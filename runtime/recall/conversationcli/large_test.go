package conversationcli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/store/jp/jptest"
)

// TestMoreHitsThanAreKept checks that no hit is lost if there are more than are kept in memory,
// so that some conversations are searched twice.
func TestMoreHitsThanAreKept(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "w")
	w := jptest.New(dir, "tests")
	const conversations, lines = 3, 4_000
	for i := range conversations {
		var text strings.Builder
		for n := range lines {
			fmt.Fprintf(&text, "conversation %d line %d needle %s\n", i, n+1, strings.Repeat("-", 80))
		}
		w.Conversation(fmt.Sprint(17600000000+i), "c").TurnStart().ToolResult("call", text.String(), false)
	}
	if err := w.Write(); err != nil {
		t.Fatal(err)
	}
	for _, sort := range []string{"activity", "created"} {
		got := run(t, dir, "grep", "--format=json", "--ascending", "--sort="+sort, "NEEDLE", "--ignore-case")
		var hits []struct {
			ID   string
			Line int
			Text string
		}
		if err := json.Unmarshal([]byte(got.stdout), &hits); err != nil {
			t.Fatal(err)
		}
		if len(hits) != conversations*lines {
			t.Fatalf("sort %s: %d hits, want %d", sort, len(hits), conversations*lines)
		}
		for i, h := range hits {
			prefix := fmt.Sprintf("conversation %d line %d needle", i/lines, i%lines+1)
			if !strings.HasPrefix(h.Text, prefix) || h.Line != i%lines+1 {
				t.Fatalf("sort %s: hit %d is line %d %q, want %q", sort, i, h.Line, h.Text, prefix)
			}
		}
	}
}

// TestLargeInput reads a tool result of 20 MB and 40,000 events.
func TestLargeInput(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("needs 20 MB of memory and a few seconds")
	}
	dir := filepath.Join(t.TempDir(), "w")
	w := jptest.New(dir, "tests")
	line := strings.Repeat("x", 99) + "\n"
	w.Conversation("17600000000", "large-result").
		TurnStart().
		ToolResult("call", strings.Repeat(line, 40_000)+"the needle\n", false)
	many := w.Conversation("17610000000", "many-events").TurnStart()
	for range 10_000 {
		many.User("hello")
	}
	many.Assistant("a needle")
	if err := w.Write(); err != nil {
		t.Fatal(err)
	}
	got := run(t, dir, "grep", "--no-heading", "needle")
	want := "jp-c17610000000:1:assistant:m:a needle\njp-c17600000000:1:tool-result:m:the needle\n"
	if got.stdout != want {
		t.Errorf("grep printed %q, want %q", got.stdout, want)
	}
	if got := run(t, dir, "ls", "--format=json"); !strings.Contains(got.stdout, `"events_count":10002`) {
		t.Errorf("ls printed %q", got.stdout)
	}
	brief := run(t, dir, "print", "17600000000")
	if !strings.Contains(brief.stdout, "… 39991 more lines") || len(brief.stdout) > 3000 {
		t.Errorf("print printed %d bytes", len(brief.stdout))
	}
}

// failingWriter fails after some bytes.
type failingWriter struct {
	left int
	err  error
}

func (w *failingWriter) Write(p []byte) (int, error) {
	if len(p) > w.left {
		return 0, w.err
	}
	w.left -= len(p)
	return len(p), nil
}

// TestFailingOutput checks that a closed pipe ends a command in silence, and any other failure
// with an error.
func TestFailingOutput(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "w")
	w := jptest.New(dir, "tests")
	w.Conversation("17600000000", "c").TurnStart().ToolResult("call", strings.Repeat("needle in a line\n", 10_000), false)
	if err := w.Write(); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		err    error
		code   int
		stderr string
	}{
		{&os.PathError{Op: "write", Path: "stdout", Err: syscall.EPIPE}, 0, ""},
		{io.ErrClosedPipe, 0, ""},
		{errors.New("output limit reached"), 1, "error: writing the results: output limit reached\n"},
	}
	for _, args := range [][]string{{"grep", "needle"}, {"grep", "--format=json", "--context=1", "needle"}, {"print", "17600000000", "--format=json"}, {"print", "17600000000", "--style=full"}} {
		for _, tt := range tests {
			var stderr bytes.Buffer
			code := execute(t.Context(), testHost(dir, &failingWriter{left: 100, err: tt.err}, &stderr), dir, args...)
			if code != tt.code {
				t.Errorf("%q with %v: exit code %d, want %d", args, tt.err, code, tt.code)
			}
			if diff := cmp.Diff(tt.stderr, stderr.String()); diff != "" {
				t.Errorf("%q with %v: standard error (-want +got):\n%s", args, tt.err, diff)
			}
		}
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "w")
	if err := writeSample(dir, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range [][]string{{"ls"}, {"grep", "retry"}, {"print", "17600000000"}} {
		var stdout, stderr bytes.Buffer
		code := execute(ctx, testHost(dir, &stdout, &stderr), dir, args...)
		if code != 1 || stdout.Len() > 0 || !strings.Contains(stderr.String(), "context canceled") {
			t.Errorf("%q: exit code %d, standard output %q, standard error %q", args, code, &stdout, &stderr)
		}
	}
}

// TestSampleData counts matches in real conversations.
func TestSampleData(t *testing.T) {
	t.Parallel()
	dir, err := filepath.Abs("../../../../shared/data/jp-workspace")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("there is no sample workspace: %v", err)
	}
	for scope, want := range map[string]int{"all": 71, "user": 24, "tool-result": 22, "tool-call": 17, "assistant": 8} {
		got := run(t, dir, "grep", "--ignore-case", "--output=text", "--scope="+scope, "cargo")
		if n := strings.Count(got.stdout, "\n"); n != want {
			t.Errorf("scope %s: %d lines, want %d", scope, n, want)
		}
	}
	got := run(t, dir, "ls", "--format=json", "--summary")
	if !strings.HasPrefix(got.stdout, `[{"id":"jp-c17800836875",`) || !strings.Contains(got.stdout, `"events_count":93,`) || !strings.Contains(got.stdout, `"total":7,`) {
		t.Errorf("ls printed %s", got.stdout)
	}
	for id, turns := range map[string]int{"17800836875": 4, "17727391057": 8} {
		got := run(t, dir, "show", id, "--format=json")
		if !strings.Contains(got.stdout, fmt.Sprintf(`"turns":%d}`, turns)) {
			t.Errorf("conversation %s: want %d turns: %s", id, turns, got.stdout)
		}
	}
}

// benchmarkWorkspace writes a workspace of mostly base64.
func benchmarkWorkspace(b *testing.B) (dir string, size int64) {
	b.Helper()
	dir, size = filepath.Join(b.TempDir(), "w"), 64<<20
	if err := jptest.Large(dir, size, 80); err != nil {
		b.Fatal(err)
	}
	return dir, size
}

func benchmarkRun(b *testing.B, dir string, args ...string) {
	b.Helper()
	if code := execute(b.Context(), testHost(dir, io.Discard, io.Discard), dir, args...); code != 0 {
		b.Fatalf("%q: exit code %d", args, code)
	}
}

func BenchmarkGrep(b *testing.B) {
	dir, size := benchmarkWorkspace(b)
	for name, args := range map[string][]string{
		"ignore-case":    {"--ignore-case", jptest.Needle},
		"case-sensitive": {"--case-sensitive", jptest.Needle},
		"regex":          {"--ignore-case", "--regex", jptest.Needle + `\s+before`},
		"two-letters":    {"--ignore-case", "--output=ids", "rn"},
		"many-hits":      {"--ignore-case", "return"},
		"json":           {"--ignore-case", "--format=json", jptest.Needle},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				benchmarkRun(b, dir, append([]string{"grep"}, args...)...)
			}
			var stats runtime.MemStats
			runtime.ReadMemStats(&stats)
			b.ReportMetric(float64(stats.HeapSys)/(1<<20), "heap-MB")
		})
	}
}

func BenchmarkLs(b *testing.B) {
	dir, size := benchmarkWorkspace(b)
	for name, args := range map[string][]string{
		"all":  {},
		"page": {"--limit=20", "--format=json"},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				benchmarkRun(b, dir, append([]string{"ls"}, args...)...)
			}
		})
	}
}
