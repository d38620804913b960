package jpevents_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/convtools/convtools/runtime/store/internal/jpevents"
)

// base64Heavy returns events as in real files: indented, mostly results of tools.
func base64Heavy(size int) []byte {
	result := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("fn main() { println!(\"hello\"); }\n", 400)))
	var b strings.Builder
	b.WriteString("[\n")
	for i := 0; b.Len() < size; i++ {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, "  {\n    \"timestamp\": \"2026-05-29 19:42:36.46732\",\n    \"type\": \"tool_call_response\",\n    \"id\": \"call_%d\",\n    \"content\": %q,\n    \"is_error\": false\n  }", i, result)
	}
	b.WriteString("\n]\n")
	return []byte(b.String())
}

// chatHeavy returns short events with texts full of escapes.
func chatHeavy(size int) []byte {
	var b strings.Builder
	b.WriteString("[\n")
	for i := 0; b.Len() < size; i++ {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, "  {\n    \"timestamp\": \"2026-05-29 19:42:36.46732\",\n    \"type\": \"chat_response\",\n    \"message\": \"Line %d\\nsays \\\"hello\\\" and goes on for a while, as messages do.\\n\"\n  }", i)
	}
	b.WriteString("\n]\n")
	return []byte(b.String())
}

func benchmarkScan(b *testing.B, data []byte) {
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if n := count(data); n.Uncounted != nil || n.Events == 0 {
			b.Fatal(n)
		}
	}
}

func BenchmarkScanner(b *testing.B) {
	b.Run("base64", func(b *testing.B) { benchmarkScan(b, base64Heavy(8<<20)) })
	b.Run("chat", func(b *testing.B) { benchmarkScan(b, chatHeavy(8<<20)) })
}

func BenchmarkDecode(b *testing.B) {
	for _, bench := range []struct {
		name string
		data []byte
	}{{"base64", base64Heavy(8 << 20)}, {"chat", chatHeavy(8 << 20)}} {
		b.Run(bench.name, func(b *testing.B) {
			b.SetBytes(int64(len(bench.data)))
			b.ReportAllocs()
			for b.Loop() {
				_, err := jpevents.Scan(bench.data, func(e *jpevents.Event) bool { return e.Decode().Object != nil })
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSampleWorkspace scans real conversations.
func BenchmarkSampleWorkspace(b *testing.B) {
	var files [][]byte
	var size int64
	for _, name := range sampleFiles(b) {
		data, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		files = append(files, data)
		size += int64(len(data))
	}
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		for _, data := range files {
			if n := count(data); n.Uncounted != nil {
				b.Fatal(n)
			}
		}
	}
}
