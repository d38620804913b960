package eventtext_test

import (
	"testing"

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
		"patch\n+ \"a\\nb\" \\n":        {Kind: transcript.KindToolCall, Name: "patch", Text: []byte(`+ "a\nb" \n`)},
	} {
		if got := string(eventtext.Searched(&e)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
