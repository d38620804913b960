package eventtext_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/store/eventtext"
	"github.com/convtools/convtools/runtime/transcript"
)

func TestSearched(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]transcript.Event{
		"hi \"a\\n\"":                   {Kind: transcript.KindUser, Text: []byte(`hi "a\n"`)},
		"":                              {Kind: transcript.KindInquiryResponse, Text: []byte("yes")},
		"Read":                          {Kind: transcript.KindToolCall, Name: "Read"},
		"Read ":                         {Kind: transcript.KindToolCall, Name: "Read ", Arguments: []byte(`{ }`)},
		"Read\n{\n  \"a\": \"b\nc\"\n}": {Kind: transcript.KindToolCall, Name: "Read", Arguments: []byte(`{"a":"b\nc"}`)},
		"patch\n+ \"a\nb\" \\n":         {Kind: transcript.KindToolCall, Name: "patch", Text: []byte(`+ "a\nb" \n`)},
	} {
		if got := string(eventtext.Searched(&e)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	e := transcript.Event{Kind: transcript.KindUser, Text: []byte("0123456789\nabcdefghij")}
	body, info := eventtext.Body(&e, transcript.Limits{Text: 10})
	if string(body) != "012345ghij" || info != (transcript.BodyInfo{Chars: 21, Head: 6}) {
		t.Errorf("%q, %+v", body, info)
	}
	if object := string(eventtext.AppendJSON(nil, &e, transcript.JSONOptions{MaxText: 10})); !strings.HasSuffix(object, `"content":"012345ghij","chars":21,"head_chars":6}`) {
		t.Error(object)
	}
	call := transcript.Event{Kind: transcript.KindToolCall, Arguments: []byte(`{"a":"0123456789abcdefghij"}`)}
	body, info = eventtext.Body(&call, transcript.Limits{Text: 10})
	if !strings.Contains(string(body), "012345 … 10 characters omitted … ghij") || info != (transcript.BodyInfo{JSON: true}) {
		t.Errorf("%q, %+v", body, info)
	}
	if object := string(eventtext.AppendJSON(nil, &call, transcript.JSONOptions{MaxText: 10})); !strings.HasSuffix(object, `,"cut":true}`) {
		t.Error(object)
	}
}

// Only the strings of an answer that is JSON are not cut, and structured data that is a text is
// cut as other texts are.
func TestLimitsByKind(t *testing.T) {
	t.Parallel()
	answer := transcript.Event{Kind: transcript.KindInquiryResponse, Arguments: []byte(`"0123456789"`)}
	if body, info := eventtext.Body(&answer, transcript.Limits{Text: 5}); string(body) != `"0123456789"` || info != (transcript.BodyInfo{JSON: true}) {
		t.Errorf("%q, %+v", body, info)
	}
	data := transcript.Event{Kind: transcript.KindStructured, Text: []byte("0123456789")}
	if body, info := eventtext.Body(&data, transcript.Limits{Text: 5}); string(body) != "01289" || info != (transcript.BodyInfo{Chars: 10, Head: 3}) {
		t.Errorf("%q, %+v", body, info)
	}
	if string(data.Text) != "0123456789" {
		t.Errorf("the event has %q now", data.Text)
	}
}

// Parts of a text, one behind the other, are the text.
func FuzzParts(f *testing.F) {
	f.Add("a b\nc", 3)
	f.Add(strings.Repeat("東京", 20)+"\U0001f600", 7)
	f.Fuzz(func(t *testing.T, text string, most int) {
		if !utf8.ValidString(text) {
			t.Skip() // texts of events are UTF-8
		}
		most = 1 + (most&0x7fffffff)%50
		quoted, err := json.Marshal(map[string]string{"a": text})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range []transcript.Event{{Kind: transcript.KindUser, Text: []byte(text)}, {Kind: transcript.KindToolCall, Arguments: quoted}} {
			whole, _ := eventtext.Body(&e, transcript.Limits{})
			runes := []rune(string(whole))
			var parts string
			for part := 1; ; part++ {
				s, info := eventtext.Body(&e, transcript.Limits{Text: most, JSON: 1, Part: part})
				if info.Chars != len(runes) {
					t.Fatalf("part %d of %q: %d characters", part, whole, info.Chars)
				}
				if len(s) == 0 {
					break
				}
				parts += string(s)
			}
			if parts != string(whole) {
				t.Errorf("%q, want %q", parts, whole)
			}
			limits := transcript.Limits{Text: most}
			if e.Arguments != nil {
				limits = transcript.Limits{JSON: most}
			}
			want, chars := string(whole), 0
			if head := transcript.HeadChars(most); len(runes) > most {
				want, chars = string(runes[:head])+string(runes[len(runes)-(most-head):]), len(runes)
			}
			if cut, info := eventtext.Body(&e, limits); string(cut) != want || info.Chars != chars {
				t.Errorf("%q, want %q, %+v", cut, want, info)
			}
		}
	})
}
