package events_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/store/eventtext"
	"github.com/convtools/convtools/runtime/transcript"
)

// What is over a limit has the ends of the whole text, or a part of it.
func TestLongText(t *testing.T) {
	t.Parallel()
	const (
		size  = 64 << 10 // bytes of each text, at least
		limit = 1000     // characters
	)
	repeat := func(s string) string { return strings.Repeat(s, size/len(s)+1) }
	quote := func(s string) string {
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	var keys strings.Builder
	for i := range size / 16 {
		fmt.Fprintf(&keys, `"k%d":[%d,"ü"],`, i, i)
	}
	encoded := base64.StdEncoding.EncodeToString([]byte(repeat("a line, 東京\n")))
	for _, test := range []struct {
		name, object string
	}{
		{"plain", `{"type":"chat_request","content":"` + repeat("abc ") + `"}`},
		{"of wide characters", `{"type":"chat_request","content":"a` + repeat("東京") + `"}`},
		{"not UTF-8", `{"type":"chat_request","content":"` + repeat("\xffab\xe6\x9d\x80\x80\x80\x80\x80\x80\x80\x80") + `"}`},
		{"with escapes", `{"type":"chat_response","message":` + quote(repeat("a \"line\"\n\u2028\x01")) + `}`},
		{"with surrogates", `{"type":"chat_response","message":"` + repeat(`\ud83d\ude00\ud83d x\q\\`) + `"}`},
		{"an inquiry", `{"type":"inquiry_request","question":{"text":"` + repeat("why? ") + `"}}`},
		{"an answer", `{"type":"inquiry_response","answer":"` + repeat("so. ") + `"}`},
		{"a result that is not base64", `{"type":"tool_call_response","content":"` + repeat(`a line\n`) + `"}`},
		{"a result", `{"type":"tool_call_response","content":"` + encoded + `"}`},
		{"a result with escapes", `{"type":"tool_call_response","content":"` + strings.ReplaceAll(encoded, "/", `\/`) + `"}`},
		{"arguments with many keys", `{"type":"tool_call_request","arguments":{` + keys.String() + `"end":1}}`},
		{"arguments with a long text", `{"type":"tool_call_request","arguments":{"a":` + quote(repeat("a \"line\"\n")) + `,"b":1}}`},
		{"arguments with a long key", `{"type":"tool_call_request","arguments":{` + quote(repeat("a \"key\"\n")) + `:[2]}}`},
		{"arguments with a long text in base64", `{"type":"tool_call_request","arguments":{"a":"` + encoded + `"}}`},
		{"structured data", `{"type":"chat_response","data":{"a":"` + repeat("東京") + `"}}`},
		{"arguments of nothing", `{"type":"tool_call_request","arguments":[` + repeat("[],{},") + `0]}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := decoded(t, test.object)
			whole, _ := eventtext.Body(e, transcript.Limits{})
			got, info := eventtext.Body(e, transcript.Limits{JSON: limit})
			if !info.JSON {
				got, info = eventtext.Body(e, transcript.Limits{Text: limit})
			}
			runes := []rune(string(whole))
			head := string(runes[:transcript.HeadChars(limit)])
			want := head + string(runes[len(runes)-limit+transcript.HeadChars(limit):])
			if info.Chars != len(runes) || info.Head != utf8.RuneCountInString(head) {
				t.Errorf("%d characters, %d before the cut; want %d, %d", info.Chars, info.Head, len(runes), len(head))
			}
			if string(got) != want {
				t.Errorf("%d bytes: %.80q…, want %d bytes: %.80q…", len(got), got, len(want), want)
			}
			const big = size/3 + 100
			last := (len(runes)-1)/big + 1
			for _, part := range []int{1, 2, last, last + 1, math.MaxInt} {
				got, info := eventtext.Body(e, transcript.Limits{Text: big, JSON: 5, Part: part})
				from := min(part-1, last) * big
				want := runes[min(from, len(runes)):min(from+big, len(runes))]
				if string(got) != string(want) || info.Chars != len(runes) || info.Head != 0 {
					t.Errorf("part %d has %d bytes, %+v; want %d bytes", part, len(got), info, len(string(want)))
				}
			}
		})
	}
}

// checkParts compares the parts of an event's text with the whole.
func checkParts(t *testing.T, e *transcript.Event, size int) {
	t.Helper()
	whole, want := eventtext.Body(e, transcript.Limits{})
	runes := []rune(string(whole))
	want.Chars = len(runes)
	for part := 1; ; part++ {
		got, info := eventtext.Body(e, transcript.Limits{Text: size, JSON: 1, Part: part})
		from := min((part-1)*size, len(runes))
		if text := string(runes[from:min(from+size, len(runes))]); string(got) != text {
			t.Errorf("part %d of %d characters: %q, want %q, of\n%s", part, size, got, text, e.Object)
		}
		if info != want {
			t.Errorf("part %d of %d characters: %+v, want %+v, of\n%s", part, size, info, want, e.Object)
		}
		if from == len(runes) {
			return
		}
	}
}

// Without a size, the first part is all of a text.
func TestPartWithoutSize(t *testing.T) {
	t.Parallel()
	e := decoded(t, `{"type":"chat_request","content":"東京 and on"}`)
	for part, want := range map[int]string{1: "東京 and on", 2: "", math.MaxInt: ""} {
		if got, info := eventtext.Body(e, transcript.Limits{Part: part}); string(got) != want || info.Chars != 9 {
			t.Errorf("part %d: %q, %+v", part, got, info)
		}
	}
}

// FuzzParts compares parts of every kind of text with the whole.
func FuzzParts(f *testing.F) {
	for _, s := range []string{"", "plain 東京", "aGVsbG8gd29ybGQhISE=", "//79/CBiaW5hcnkh", `\ud83d\ude00\ud83d \n\/`, "\xff\xe6\x9d", "e\u0301 \u2028\x01"} {
		f.Add([]byte(s), uint16(1))
		f.Add([]byte(s), uint16(3))
	}
	f.Fuzz(func(t *testing.T, content []byte, size uint16) {
		quoted := transcript.AppendQuoted(nil, content)
		if raw := slices.Concat([]byte{'"'}, content, []byte{'"'}); json.Valid(raw) {
			quoted = raw
		}
		for _, object := range []string{
			`{"type":"chat_request","content":%s}`,
			`{"type":"chat_response","message":%s}`,
			`{"type":"chat_response","reasoning":%s}`,
			`{"type":"chat_response","data":%s}`,
			`{"type":"chat_response","data":{"a":[%s,1,{}],%[1]s:null}}`,
			`{"type":"tool_call_request","arguments":{"a":%s,"b":[[],%[1]s],%[1]s:true}}`,
			`{"type":"tool_call_request","arguments":%s}`,
			`{"type":"tool_call_response","content":%s}`,
			`{"type":"tool_call_response","content":[%s]}`,
			`{"type":"inquiry_request","question":{"text":%s}}`,
			`{"type":"inquiry_response","answer":%s}`,
			`{"type":"inquiry_response","answer":{"a":%s}}`,
		} {
			checkParts(t, decoded(t, fmt.Sprintf(object, quoted)), max(int(size), 1))
		}
	})
}

// JSON is cut as a whole.
func TestCutJSON(t *testing.T) {
	t.Parallel()
	e := decoded(t, `{"type":"tool_call_request","arguments":{"a":"0123456789012","b":"second","c":[1,2,3]}}`)
	got, info := eventtext.Body(e, transcript.Limits{Text: 5, JSON: 40})
	const want = "{\n  \"a\": \"0123456789012\"  2,\n    3\n  ]\n}"
	if string(got) != want || info.Chars != 77 || info.Head != 24 {
		t.Errorf("%q, %+v", got, info)
	}
}
