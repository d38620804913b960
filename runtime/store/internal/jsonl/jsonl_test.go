package jsonl

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// reader is Lines or a Stream.
type reader interface {
	At(ctx context.Context, offset int64) (line []byte, next int64, err error)
}

// all reads all lines from the first to the last.
func all(ctx context.Context, l reader) (lines []string, tooLong int, err error) {
	for offset := int64(0); ; {
		line, next, err := l.At(ctx, offset)
		switch {
		case errors.Is(err, ErrTooLong):
			tooLong++
		case err == io.EOF:
			return lines, tooLong, nil
		case err != nil:
			return nil, 0, err
		default:
			lines = append(lines, string(line))
		}
		offset = next
	}
}

func newLines(text string, chunk, maxLine int) *Lines {
	l := NewLines(strings.NewReader(text), int64(len(text)))
	l.chunk, l.maxLine = chunk, maxLine
	return l
}

// Lines are those that splitting the whole text gives, whatever the chunks.
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
			for name, lines := range map[string]reader{"lines": newLines(text, chunk, most)} {
				got, tooLong, err := all(t.Context(), lines)
				if err != nil {
					t.Fatal(err)
				}
				n := 0
				for _, line := range want {
					switch {
					case n < len(got) && got[n] == line:
						n++
					case len(line) <= most:
						t.Fatalf("%s in chunks of %d: %q is missing in %q", name, chunk, line, got)
					default:
						tooLong--
					}
				}
				if n != len(got) || tooLong != 0 {
					t.Errorf("%s in chunks of %d: %q, %d too long too many; want %q", name, chunk, got, tooLong, want)
				}
			}
		}
	})
}

// Any line can be read at any time.
func TestAnyOrder(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	var offsets []int64
	var lines []string
	for range 200 {
		line := strings.Repeat("x", r.IntN(50)) + strings.Repeat("y", r.IntN(50))
		offsets, lines = append(offsets, int64(text.Len())), append(lines, line)
		text.WriteString(line + "\n")
	}
	for name, l := range map[string]reader{"lines": newLines(text.String(), 64, 1<<20)} {
		for range 300 {
			n := r.IntN(len(lines))
			line, next, err := l.At(t.Context(), offsets[n])
			if err != nil || string(line) != lines[n] || next != offsets[n]+int64(len(lines[n]))+1 {
				t.Fatalf("%s: line %d: %q, %d, %v", name, n, line, next, err)
			}
		}
	}
}

// A file that is longer or shorter than it was when it was opened.
func TestChangedSize(t *testing.T) {
	t.Parallel()
	l := NewLines(strings.NewReader("a\nb\nc\n"), 3)
	if got, _, err := all(t.Context(), l); err != nil || len(got) != 1 {
		t.Errorf("%q, %v", got, err)
	}
	l = NewLines(strings.NewReader("a\nb"), 100)
	if got, _, err := all(t.Context(), l); err != nil || len(got) != 1 {
		t.Errorf("%q, %v", got, err)
	}
}

// The memory that a long line needs is given back for the next ones, and a context that is done ends
// reading.
func TestMemory(t *testing.T) {
	t.Parallel()
	text := "a\n" + strings.Repeat("x", 3<<20) + "\n" + strings.Repeat("b\n", 1<<20)
	lines := NewLines(strings.NewReader(text), int64(len(text)))
	for name, l := range map[string]reader{"lines": lines} {
		if _, _, err := all(t.Context(), l); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, _, err := l.At(ctx, 0); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: with a context that is done: %v", name, err)
		}
	}
	if held := cap(lines.buffer); held > 4*Chunk {
		t.Errorf("%d bytes are held at the end", held)
	}
}

// What is peeked at is whole lines, none twice, and none is left out where they are all.
func FuzzPeek(f *testing.F) {
	f.Add("a\nbb\n\nccc\ndddd\neeeee\ntorn", 6, 0)
	f.Add(strings.Repeat("x", 50)+"\nab\n", 8, 60)
	f.Fuzz(func(t *testing.T, text string, most, until int) {
		most, until = 1+(most&0x7fffffff)%64, (until&0x7fffffff)%256
		var head, tail string
		whole, err := peek(t.Context(), strings.NewReader(text), int64(len(text)), int64(most), func(line []byte) int64 {
			head += string(line) + "\n"
			return int64(until)
		}, func(line []byte) { tail += string(line) + "\n" })
		if err != nil {
			t.Fatal(err)
		}
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
