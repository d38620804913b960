package process

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// A HeadTail keeps the same bytes as cutting the whole stream, for any size and any pieces.
func TestHeadTail(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		limit := 1 + random.IntN(20)
		whole := make([]byte, random.IntN(60))
		for i := range whole {
			whole[i] = byte('a' + random.IntN(26))
		}
		h := &HeadTail{Limit: limit}
		for rest := whole; len(rest) > 0; {
			n := 1 + random.IntN(len(rest))
			if written, err := h.Write(rest[:n]); written != n || err != nil {
				t.Fatalf("Write of %d bytes = %d, %v", n, written, err)
			}
			rest = rest[n:]
		}
		want := string(whole)
		if len(whole) > limit {
			head := limit / 2
			want = fmt.Sprintf("%s\n[… %d bytes omitted …]\n%s", whole[:head], len(whole)-limit, whole[len(whole)-(limit-head):])
		}
		if got := string(h.bytes()); got != want {
			t.Fatalf("limit %d of %q: got %q, want %q", limit, whole, got, want)
		}
	}
}

// A cappedBuffer keeps the stream up to its limit, for any limit and any pieces.
func TestCappedBuffer(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for range 30 {
		limit := 1 + random.IntN(4096)
		whole := make([]byte, random.IntN(4096))
		for i := range whole {
			whole[i] = byte(i * 7 / 5)
		}
		var causes []error
		b := &cappedBuffer{limit: int64(limit), exceeded: func(cause error) { causes = append(causes, cause) }}
		for rest := whole; len(rest) > 0; {
			n := min(len(rest), 1+random.IntN(2048))
			written, err := b.Write(rest[:n])
			if (err != nil) != (written < n) {
				t.Fatalf("Write of %d bytes = %d, %v", n, written, err)
			}
			if err != nil {
				break
			}
			rest = rest[n:]
		}
		want := whole[:min(limit, len(whole))]
		if over := len(whole) > limit; over != (len(causes) == 1) {
			t.Fatalf("limit %d, stream %d: exceeded was called %d times", limit, len(whole), len(causes))
		}
		if !bytes.Equal(b.data, want) {
			t.Fatalf("limit %d, stream %d: another content", limit, len(whole))
		}
	}
}

func TestDisplay(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		cmd  Command
		want string
	}{
		{"plain", Command{Path: "jp", Args: []string{"conversation", "ls"}}, "jp conversation ls"},
		{"quoted", Command{Path: "/my tools/jp", Args: []string{"", "it's", "日本 語"}}, `'/my tools/jp' '' 'it'\''s' '日本 語'`},
		{"made visible", Command{Path: "jp", Args: []string{"\x1b[2J", "a\nb\tc", "\u202Etxt"}}, `jp ␛[2J a␊b␉c '\u{202E}txt'`},
		{
			"long word",
			Command{Path: "jp", Args: []string{strings.Repeat("a", 40) + strings.Repeat("z", 40)}},
			"jp '" + strings.Repeat("a", 30) + " … 20 characters omitted … " + strings.Repeat("z", 30) + "'",
		},
		{
			"many words",
			Command{Path: "jp", Args: strings.Fields(strings.Repeat("123456789 ", 30))},
			"jp" + strings.Repeat(" 123456789", 15) + " … (15 more)",
		},
		{"nothing", Command{}, "(no program)"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := test.cmd.display(); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestLastLine(t *testing.T) {
	t.Parallel()
	for stderr, want := range map[string]string{
		"":                        "",
		" \n\n":                   "",
		"one":                     "one",
		"one\n  two  \r\n\n":      "two",
		"one\n\x1b[31mred\x1b[0m": "␛[31mred␛[0m",
	} {
		if got := lastLine([]byte(stderr)); got != want {
			t.Errorf("lastLine(%q) = %q, want %q", stderr, got, want)
		}
	}
}
