package wire

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// tooLongFrame stands for a line that was refused, before its beginning.
const tooLongFrame = "too long: "

func frames(r io.Reader, limit int) ([]string, error) {
	var got []string
	for f := newFrameReader(r, limit); ; {
		line, err := f.next()
		switch {
		case errors.Is(err, errFrameTooLong):
			got = append(got, tooLongFrame+string(line))
		case err != nil:
			return got, err
		default:
			got = append(got, string(line))
		}
	}
}

func TestFrames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("y", readBuffer)
	for _, tc := range []struct {
		name, in string
		limit    int
		want     []string
	}{
		{"nothing", "", 10, nil},
		{"lines", "a\nb\n", 10, []string{"a", "b"}},
		{"last line without an end", "a\nb", 10, []string{"a", "b"}},
		{"CR LF", "a\r\nb\r\n\r\n", 10, []string{"a", "b"}},
		{"blank", "\n \n\t\n\r\n  a \n", 10, []string{"a"}},
		{"byte order marks", "\ufeffa\n\ufeff\n\ufeff b\n", 10, []string{"a", "b"}},
		{"at the limit", "1234567890\nb\n", 10, []string{"1234567890", "b"}},
		{"over the limit", "12345678901\nb\n", 10, []string{tooLongFrame + "1234567890", "b"}},
		{"over the limit at the end", "b\n12345678901", 10, []string{"b", tooLongFrame + "1234567890"}},
		{"at the limit at the end", "1234567890", 10, []string{"1234567890"}},
		{"only a line feed too long", "1234567890\n", 9, []string{tooLongFrame + "123456789"}},
		{"longer than the buffer", long + "z\nb\n", 2 * readBuffer, []string{long + "z", "b"}},
		{"as long as the buffer", long + "\nb\n", 2 * readBuffer, []string{long, "b"}},
		{"over a limit longer than the buffer", long + long + "z\nb\n", 2 * readBuffer, []string{tooLongFrame + long + long, "b"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, err := frames(strings.NewReader(tc.in), tc.limit)
			if !errors.Is(err, io.EOF) {
				t.Errorf("ended with %v", err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFramesReportFailures(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	got, err := frames(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)), 10)
	if !errors.Is(err, broken) || !slices.Equal(got, []string{"a"}) {
		t.Errorf("lines %q and error %v", got, err)
	}
}

// FuzzFrames compares the reader with splitting the whole input.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("a\r\n\n\ufeffb"), 3, false)
	f.Add([]byte("123456\n12345\n"), 5, true)
	f.Fuzz(func(t *testing.T, in []byte, limit int, slow bool) {
		limit = 1 + max(limit, -limit)%100
		if limit < 1 {
			return
		}
		var want []string
		for line := range bytes.SplitSeq(in, []byte("\n")) {
			if len(line) > limit {
				want = append(want, tooLongFrame+string(line[:limit]))
				continue
			}
			if line = bytes.Trim(bytes.TrimPrefix(line, []byte("\ufeff")), " \t\r"); len(line) > 0 {
				want = append(want, string(line))
			}
		}
		var r io.Reader = bytes.NewReader(in)
		if slow {
			r = iotest.OneByteReader(r)
		}
		got, err := frames(r, limit)
		if !errors.Is(err, io.EOF) {
			t.Fatalf("ended with %v", err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("lines (-want +got):\n%s", diff)
		}
	})
}
