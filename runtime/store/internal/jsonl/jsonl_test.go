package jsonl

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
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

func newStream(text string, maxLine int) *Stream {
	s := NewStream(func() (io.ReadCloser, error) {
		return io.NopCloser(iotest.OneByteReader(strings.NewReader(text))), nil
	})
	s.maxLine = maxLine
	return s
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
			for name, lines := range map[string]reader{"lines": newLines(text, chunk, most), "stream": newStream(text, most)} {
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
	for name, l := range map[string]reader{"lines": newLines(text.String(), 64, 1<<20), "stream": newStream(text.String(), 1<<20)} {
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
	stream := NewStream(func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil })
	for name, l := range map[string]reader{"lines": lines, "stream": stream} {
		if _, _, err := all(t.Context(), l); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, _, err := l.At(ctx, 0); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: with a context that is done: %v", name, err)
		}
	}
	if held := max(cap(lines.buffer), cap(stream.line)); held > 4*Chunk {
		t.Errorf("%d bytes are held at the end", held)
	}
}

// The ends are whole lines, none twice, and none is left out where they are all.
func FuzzEnds(f *testing.F) {
	f.Add("a\nbb\n\nccc\ndddd\neeeee\ntorn", 6)
	f.Add(strings.Repeat("x", 50)+"\nab\n", 8)
	f.Fuzz(func(t *testing.T, text string, most int) {
		most = 1 + (most&0x7fffffff)%64
		e, err := ReadEnds(strings.NewReader(text), int64(len(text)), most, nil)
		if err != nil {
			t.Fatal(err)
		}
		used := []byte(strings.Repeat("x\n", 64))
		if again, err := ReadEnds(strings.NewReader(text), int64(len(text)), most, used); err != nil || !cmp.Equal(again, e, cmpopts.EquateEmpty()) {
			t.Errorf("in memory that was used: %+v, %v; want %+v", again, err, e)
		}
		whole := text[:strings.LastIndexByte(text, '\n')+1]
		if !strings.HasPrefix(text, string(e.Head)) || len(e.Head) > most || len(e.Tail) > most {
			t.Fatalf("%+v", e)
		}
		if !e.Cut && len(e.Head) > 0 && e.Head[len(e.Head)-1] != '\n' {
			t.Errorf("head %q", e.Head)
		}
		if len(e.Tail) > 0 {
			begin := len(whole) - len(e.Tail)
			if !strings.HasSuffix(whole, string(e.Tail)) || begin < len(e.Head) || begin > 0 && whole[begin-1] != '\n' {
				t.Errorf("tail %q of %q", e.Tail, text)
			}
		}
		if e.Whole && string(e.Head)+string(e.Tail) != whole {
			t.Errorf("whole: %q and %q of %q", e.Head, e.Tail, text)
		}
		if len(text) <= most && !e.Whole || e.Cut && bytes.IndexByte(e.Head, '\n') >= 0 {
			t.Errorf("%+v of %q", e, text)
		}
	})
}
