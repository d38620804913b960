package jsonl

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// all reads all lines from the first to the last.
func all(ctx context.Context, text string, size int64, chunk int, most int) (lines []string, tooLong int, err error) {
	end := int64(0)
	err = each(ctx, strings.NewReader(text), 0, size, chunk, most, func(line []byte, offset, next int64) bool {
		if line == nil {
			tooLong++
		} else {
			lines = append(lines, string(line))
		}
		if offset != end || line != nil && text[offset:next] != string(line)+"\n" {
			err = errors.New("wrong offsets")
		}
		end = next
		return true
	})
	return lines, tooLong, err
}

// The lines are the same as those of the split text, whatever the size of the chunks.
func FuzzLines(f *testing.F) {
	f.Add("a\nbb\n\nccc\u2028c\r\ntorn", 3)
	f.Add("", 1)
	f.Add("\n", 1)
	f.Add(strings.Repeat("long", 100)+"\nshort\n", 7)
	f.Fuzz(func(t *testing.T, text string, chunk int) {
		chunk = 1 + (chunk&0x7fffffff)%64
		want := strings.Split(text, "\n")
		want = want[:len(want)-1]
		for _, most := range []int{1 << 20, 40} {
			got, tooLong, err := all(t.Context(), text, int64(len(text)), chunk, most)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, line := range want {
				switch {
				case n < len(got) && got[n] == line:
					n++
				case len(line) <= most:
					t.Fatalf("in chunks of %d: %q is missing in %q", chunk, line, got)
				default:
					tooLong--
				}
			}
			if n != len(got) || tooLong != 0 {
				t.Errorf("in chunks of %d: %q, %d too long too many; want %q", chunk, got, tooLong, want)
			}
		}
	})
}

// A file that is longer or shorter than it was when it was opened.
func TestChangedSize(t *testing.T) {
	t.Parallel()
	for text, size := range map[string]int64{"a\nb\nc\n": 3, "a\nb": 100} {
		if got, _, err := all(t.Context(), text, size, 1<<10, MaxLine); err != nil || len(got) != 1 {
			t.Errorf("%q, %v", got, err)
		}
	}
}

// A context that is done ends reading.
func TestDone(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, _, err := all(ctx, "a\n", 2, 1<<10, MaxLine); !errors.Is(err, context.Canceled) || got != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// Peek returns whole lines, none twice, and all of them where it reports so.
func FuzzPeek(f *testing.F) {
	f.Add("a\nbb\n\nccc\ndddd\neeeee\ntorn", 6, 0)
	f.Add(strings.Repeat("x", 50)+"\nab\n", 8, 60)
	f.Fuzz(func(t *testing.T, text string, most, until int) {
		most, until = 1+(most&0x7fffffff)%64, (until&0x7fffffff)%256
		seen, headEnd := "", -1
		whole, err := peek(t.Context(), strings.NewReader(text), int64(len(text)), most, func() bool {
			if len(seen) >= until {
				headEnd = len(seen)
			}
			return headEnd < 0
		}, func(line []byte) { seen += string(line) + "\n" })
		if err != nil {
			t.Fatal(err)
		}
		if headEnd < 0 {
			headEnd = len(seen)
		}
		head, tail := seen[:headEnd], seen[headEnd:]
		lines := text[:strings.LastIndexByte(text, '\n')+1]
		begin := len(lines) - len(tail)
		if !strings.HasPrefix(lines, head) || !strings.HasSuffix(lines, tail) || begin < len(head) || len(tail) > most {
			t.Fatalf("%q and %q of %q", head, tail, text)
		}
		if begin > 0 && lines[begin-1] != '\n' || len(head) < min(most, until, len(lines)) {
			t.Errorf("%q and %q of %q", head, tail, text)
		}
		if whole && head+tail != lines || !whole && len(text) <= most {
			t.Errorf("whole %v: %q and %q of %q", whole, head, tail, text)
		}
	})
}
