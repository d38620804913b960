package exports

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// split reads all values of a document.
func split(in io.Reader, most int64) (found []string, err error) {
	v := newValues(in, most)
	for v.next() {
		found = append(found, string(v.value))
	}
	if v.err == io.EOF {
		v.err = nil
	}
	return found, v.err
}

func TestValues(t *testing.T) {
	t.Parallel()
	// Each escape must not be a reason to look for the end of the string again.
	lines := `"` + strings.Repeat(`\n`, 1<<20) + `\\"`
	large := `{"x":"` + strings.Repeat("\\\"}]", 300_000) + `"}`
	for document, want := range map[string]string{
		`[]`: "", ` [ ] `: "", ``: "", `[{}]`: "{}", `[{"a":"]}"},{"b":[1,[2]]}, {"c":-1.5e3}]`: `{"a":"]}"}|{"b":[1,[2]]}|{"c":-1.5e3}`,
		`{"a":1}`: `{"a":1}`, "{}\n{}": "{}|{}", `[{"a":"\\"}]`: `{"a":"\\"}`, `[` + large + `,{}]`: large + "|{}", `[{}] and more`: "{}",
		`[{"a":["\\\"", "\\\\", "\\\\\"", 1]}]`: `{"a":["\\\"", "\\\\", "\\\\\"", 1]}`, `[{"a":` + lines + `}]`: `{"a":` + lines + `}`,
	} {
		for name, in := range map[string]io.Reader{"at once": strings.NewReader(document), "halves": iotest.HalfReader(strings.NewReader(document)), "with the error": iotest.DataErrReader(strings.NewReader(document))} {
			found, err := split(in, 4<<20)
			if got := strings.Join(found, "|"); got != want || err != nil {
				t.Errorf("%.40s, %s: %.80s, %v", document, name, got, err)
			}
		}
	}
	found, err := split(strings.NewReader(`[{},{"x":2},`+large+`,{"x":3}]`), 1000)
	if got := strings.Join(found, "|"); got != `{}|{"x":2}` || !errors.Is(err, errTooLarge) {
		t.Errorf("%.80s, %v", got, err)
	}
	broken := errors.New("broken")
	if found, err := split(io.MultiReader(strings.NewReader(`[{},{},`), iotest.ErrReader(broken)), 1000); len(found) != 2 || !errors.Is(err, broken) {
		t.Errorf("%v, %v", found, err)
	}
}

// An array of objects, as encoding/json decodes it, is split into its elements.
func FuzzValues(f *testing.F) {
	f.Add([]byte(`[{"a":"]}"},[1,[2]],"x,\"y",-1.5e3,null]`), uint8(3))
	f.Add([]byte("\ufeff[{}, {}"), uint8(1))
	f.Fuzz(func(t *testing.T, document []byte, size uint8) {
		found, err := split(&slow{document, int(size) + 1}, 1<<20)
		var want []json.RawMessage
		if json.Unmarshal(document, &want) != nil || want == nil {
			return
		}
		if err != nil || len(found) != len(want) {
			t.Fatalf("%q, %v", found, err)
		}
		for i := range want {
			if found[i] != string(bytes.TrimSpace(want[i])) {
				t.Errorf("%q, want %q", found[i], want[i])
			}
		}
	})
}

// slow reads a few bytes at a time.
type slow struct {
	data []byte
	size int
}

func (s *slow) Read(b []byte) (int, error) {
	if len(s.data) == 0 {
		return 0, io.EOF
	}
	n := copy(b, s.data[:min(s.size, len(s.data))])
	s.data = s.data[n:]
	return n, nil
}
