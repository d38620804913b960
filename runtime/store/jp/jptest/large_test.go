package jptest_test

import (
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/store/jp/jptest"
)

func TestLarge(t *testing.T) {
	t.Parallel()
	shape := jptest.Shape{Bytes: 3_000_000, Conversations: 30, NeedleEvery: 7}
	dir := t.TempDir()
	content, err := jptest.Large(dir, shape)
	if err != nil {
		t.Fatal(err)
	}
	if off := float64(content.Bytes-shape.Bytes) / float64(shape.Bytes); off < -0.1 || off > 0.1 {
		t.Errorf("wrote %d bytes of events, want about %d", content.Bytes, shape.Bytes)
	}

	// Count again what was written, knowing only the format.
	var got jptest.Content
	conversations, results := 0, 0
	forms := map[string]int{}
	files := tree(t, dir)
	for name, data := range files {
		if filepath.Base(name) != "events.json" {
			if strings.Contains(strings.ToLower(data), jptest.Needle) {
				t.Errorf("%s: a needle outside tool results", name)
			}
			continue
		}
		conversations++
		got.Bytes += int64(len(data))
		var events []struct {
			Type, Content, Message, Reasoning string
		}
		if err := json.Unmarshal([]byte(data), &events); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, e := range events {
			if e.Type != "tool_call_response" {
				if strings.Contains(strings.ToLower(e.Content+e.Message+e.Reasoning), jptest.Needle) {
					t.Errorf("%s: a needle in a %s", name, e.Type)
				}
				continue
			}
			results++
			text, err := base64.StdEncoding.DecodeString(e.Content)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			hits := 0
			for line := range strings.Lines(string(text)) {
				if at := strings.Index(strings.ToLower(line), jptest.Needle); at >= 0 {
					hits++
					forms[line[at:at+len(jptest.Needle)]]++
				}
			}
			if hits > 1 {
				t.Errorf("%s: %d needles in one tool result", name, hits)
			}
			got.Needles += hits
		}
	}
	if diff := cmp.Diff(content, got); diff != "" {
		t.Errorf("content (-reported +counted):\n%s", diff)
	}
	if conversations != shape.Conversations {
		t.Errorf("%d conversations, want %d", conversations, shape.Conversations)
	}
	if got.Needles != results/shape.NeedleEvery {
		t.Errorf("%d needles in %d results, want one in every %d", got.Needles, results, shape.NeedleEvery)
	}
	if len(forms) != 4 {
		t.Errorf("spellings of the needle: %v, want 4", forms)
	}

	again := t.TempDir()
	if _, err := jptest.Large(again, shape); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(files, tree(t, again)); diff != "" {
		t.Error("the same shape gave other files")
	}
}

func BenchmarkLarge(b *testing.B) {
	shape := jptest.Shape{Bytes: 10_000_000, Conversations: 100, NeedleEvery: 50}
	b.SetBytes(shape.Bytes)
	for b.Loop() {
		if _, err := jptest.Large(b.TempDir(), shape); err != nil {
			b.Fatal(err)
		}
	}
}
