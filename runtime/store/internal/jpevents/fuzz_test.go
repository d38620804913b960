package jpevents_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/eventtext"
	"github.com/convtools/convtools/runtime/store/internal/jpevents"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// FuzzScanner tests that nothing panics on any bytes, that events are in the file, that the damage is
// in the right place, and that exactly the valid arrays of objects are not damaged.
func FuzzScanner(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(newGenerator(seed).stream())
	}
	for _, s := range []string{``, `[`, `[{}`, `[{}]x`, `[{"a":"\`, `[{"a":"\\"}]`, `[1]`, `[{"a":[[[]]]}]`, `[{"type":"chat_request","content":"\ud800"}]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		n, end, turn := 0, 0, 0
		_, err := jpevents.Scan(data, func(e *jpevents.Event) bool {
			if e.Index != n || e.Offset < end || !bytes.Equal(data[e.Offset:e.Offset+len(e.Raw)], e.Raw) {
				t.Fatalf("event %d is out of place: index %d at %d behind %d", n, e.Index, e.Offset, end)
			}
			n++
			end = e.Offset + len(e.Raw)
			if e.Turn != 0 && (e.Turn < turn || e.Turn > turn+1) || (e.Turn == 0) != e.Kind.Global() {
				t.Fatalf("turn %d after turn %d, kind %v", e.Turn, turn, e.Kind)
			}
			turn = max(turn, e.Turn)
			checkEvent(t, e)
			return true
		})
		if !bytes.Equal(before, data) {
			t.Fatal("the data changed")
		}
		checkEnd(t, data, n, end, err)
	})
}

func checkEvent(t *testing.T, e *jpevents.Event) {
	t.Helper()
	d := e.Decode()
	if text := eventtext.Searched(&d); !utf8.Valid(text) {
		t.Fatalf("text is not UTF-8: %q", text)
	}
	// A wrong escape or control character in a string is no damage, and the result must be JSON.
	for _, withMetadata := range []bool{true, false} {
		if printed := eventtext.AppendJSON(nil, &d, withMetadata); !json.Valid(printed) || !utf8.Valid(printed) {
			t.Fatalf("not JSON: %q of %q", printed, e.Raw)
		}
	}
	if at := e.Time(); !at.IsZero() && (len(e.Timestamp) == 0 || e.Timestamp[0] != '"') || at.Year() < 0 || at.Year() > 9999 {
		t.Fatalf("timestamp %v", at)
	}
	if body := eventtext.Body(&d); !utf8.Valid(body) || len(d.Arguments) > 0 && !json.Valid(body) {
		t.Fatalf("body %q of %q", body, e.Raw)
	}
}

func checkEnd(t *testing.T, data []byte, n, end int, err error) {
	t.Helper()
	var objects []map[string]any
	valid := json.Unmarshal(data, &objects) == nil && data[bytes.IndexAny(data, "[n")] == '['
	for _, o := range objects {
		valid = valid && o != nil
	}
	var damage *store.DamageError
	switch {
	case err == nil && !valid && json.Valid(data):
		t.Fatalf("not an array of objects, but taken as one")
	case err == nil && valid && n != len(objects):
		t.Fatalf("%d events, want %d", n, len(objects))
	case err != nil && !errors.As(err, &damage):
		t.Fatalf("%T is not a DamageError", err)
	case err != nil && valid && !errors.Is(err, jsontext.ErrTooDeep):
		t.Fatalf("%v, but the array is whole", err)
	case err != nil && (damage.Event != n || offset(damage) < end || offset(damage) > len(data)):
		t.Fatalf("%v, after %d events up to byte %d of %d", err, n, end, len(data))
	}
}

func FuzzAppendDecoded(f *testing.F) {
	for _, s := range []string{"", "aGVsbG8=", "aGVsbG8gd29ybGQhIR==", "c3ViamVjdHM_Pj5-fn7DvOKGkg==", "plain text", "aGVs\nbG8h", "====", "//79/CBiaW5hcnkh", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want, wantEnc := oracleDecode(s)
		want = string(bytes.ToValidUTF8([]byte(want), nil))
		got, enc := jpevents.AppendDecoded([]byte("> "), []byte(s))
		if !utf8.Valid(got) || enc.String() != wantEnc {
			t.Fatalf("%q: %q, %q; want %q, %q", s, got, enc, want, wantEnc)
		}
		if utf8.ValidString(s) && string(got) != "> "+want {
			t.Fatalf("%q: %q, want %q", s, got, want)
		}
	})
}

func FuzzAppendUnescaped(f *testing.F) {
	for _, s := range []string{``, `a\u0041`, `\ud83d\ude00`, `\ud83d`, `\u12`, `\`, `\x`, "\xff", "a\nb"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got := transcript.AppendUnescaped([]byte("> "), raw)
		if !utf8.Valid(got) {
			t.Fatalf("%q: %q is not UTF-8", raw, got)
		}
		var want string
		if json.Unmarshal(append(append([]byte{'"'}, raw...), '"'), &want) == nil && string(got) != "> "+want {
			t.Fatalf("%q: %q, want %q", raw, got, want)
		}
		var back string
		if err := json.Unmarshal(transcript.AppendQuoted(nil, got), &back); err != nil || back != string(got) {
			t.Fatalf("%q is quoted as %q (%v)", got, back, err)
		}
	})
}

// FuzzPretty compares the indented form with that of encoding/json.
func FuzzPretty(f *testing.F) {
	for _, s := range []string{`{"a":[1,{"b":"c\u2028<"}],"d":{}}`, `[]`, `"x"`, `-1.5e3`, `{"a":1,"a":2}`, ` [ ] `, `{"\/":"\u00e9"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		if !json.Valid(value) {
			t.Skip()
		}
		found, err := scan(`[{"type":"inquiry_response","answer":` + string(value) + `}]`)
		if len(found) == 0 {
			var damage *store.DamageError
			if !errors.As(err, &damage) || !errors.Is(err, jsontext.ErrTooDeep) {
				t.Fatal(err)
			}
			return
		}
		d := found[0].Decode()
		got := eventtext.Body(&d)
		if len(d.Arguments) == 0 { // a string
			got = transcript.AppendQuoted(nil, got)
		}
		var canonical, want bytes.Buffer
		if err := canonicalise(json.NewDecoder(bytes.NewReader(value)), &canonical); err != nil {
			t.Fatal(err)
		}
		if err := json.Indent(&want, canonical.Bytes(), "", "  "); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want.Bytes()) {
			t.Fatalf("%s\nwant\n%s", got, want.Bytes())
		}
	})
}

// canonicalise writes a value compactly with every string quoted anew, repeated
// keys included.
func canonicalise(dec *json.Decoder, out *bytes.Buffer) error {
	dec.UseNumber()
	token, err := dec.Token()
	if err != nil {
		return err
	}
	switch v := token.(type) {
	case json.Delim:
		out.WriteString(v.String())
		for first := true; dec.More(); first = false {
			if !first {
				out.WriteByte(',')
			}
			if v == '{' {
				if err := canonicalise(dec, out); err != nil {
					return err
				}
				out.WriteByte(':')
			}
			if err := canonicalise(dec, out); err != nil {
				return err
			}
		}
		closing, err := dec.Token()
		if err != nil {
			return err
		}
		out.WriteString(closing.(json.Delim).String())
	case string:
		out.WriteString(oracleQuote(v))
	case json.Number:
		out.WriteString(v.String())
	default:
		b, err := json.Marshal(v)
		if err != nil {
			return err
		}
		out.Write(b)
	}
	return nil
}
