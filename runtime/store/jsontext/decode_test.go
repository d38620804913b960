package jsontext_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/store/jsontext"
)

type decoded struct {
	Text  string       `json:"text"`
	Bytes []byte       `json:"bytes"`
	Raw   jsontext.Raw `json:"raw"`
	Is    bool         `json:"is"`
	N     int64        `json:"n"`
	At    time.Time    `json:"at"`
	Inner struct {
		Text string `json:"text"`
	} `json:"inner"`
	Maybe *decoded `json:"maybe"`
	List  []string `json:"list"`
	Other string
}

func TestDecode(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	for data, want := range map[string]decoded{
		`{"text":"a\u00e9\n","bytes":"b","raw":{"x":[1]},"is":true,"n":-7}`: {Text: "aé\n", Bytes: []byte("b"), Raw: jsontext.Raw(`{"x":[1]}`), Is: true, N: -7},
		`{"at":"2026-05-01T12:00:00+02:00","list":["a","b"]}`:               {At: at, List: []string{"a", "b"}},
		`{"inner":{"text":"a"},"maybe":{"n":1}}`: {Inner: struct {
			Text string "json:\"text\""
		}{"a"}, Maybe: &decoded{N: 1}},
		`{"maybe":null,"raw":null}`:                                             {Raw: jsontext.Raw("null")},
		`{"Other":"a","Text":"b","t\u0065xt":"c"}`:                              {Text: "c"},
		`{"text":"a","text":7,"n":"7","is":"true","at":1,"inner":[],"list":{}}`: {},
		`{"text":"a\ud83d` + "\xff" + `"}`:                                      {Text: "a\ufffd\ufffd"},
	} {
		var got decoded
		if ok := jsontext.Decode([]byte(data), &got); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %t %+v, want %+v", data, ok, got, want)
		}
	}
	var got decoded
	if jsontext.Decode([]byte(`{"text":"a","n":1,"raw":[`), &got) || got.Text != "a" || got.N != 1 || got.Raw != nil {
		t.Errorf("half an object: %+v", got)
	}
}

func TestParts(t *testing.T) {
	t.Parallel()
	type part struct {
		Text string `json:"text"`
	}
	for raw, want := range map[string][]part{
		``: nil, `7`: nil, `"a"`: {{"a"}}, `{"text":"a"}`: {{"a"}}, `[]`: nil, `["a",{"text":"b"},7,{}]`: {{"a"}, {"b"}, {}},
	} {
		got := jsontext.Parts(jsontext.Raw(raw), func(text []byte) part { return part{string(text)} })
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", raw, got, want)
		}
	}
}

// What encoding/json reads of well-formed text, Decode reads too.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"text":"a","list":["b"],"inner":{"text":"c"},"n":3,"is":true}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var got decoded
		ok := jsontext.Decode(data, &got)
		if !utf8.ValidString(got.Text) || !utf8.Valid(got.Bytes) {
			t.Errorf("%q: %+v", data, got)
		}
		var want map[string]any
		if json.Unmarshal(data, &want) != nil || want == nil {
			return
		}
		text, _ := want["text"].(string)
		if is, _ := want["is"].(bool); ok && (got.Text != text || got.Is != is) {
			t.Errorf("%q: %+v", data, got)
		}
	})
}

// A list of more elements than any program records would need many times the memory of its text.
func TestManyElements(t *testing.T) {
	t.Parallel()
	const most = 1 << 20
	list := "[" + strings.Repeat(`"",`, most) + `""]`
	var d decoded
	isWhole := jsontext.Decode([]byte(`{"list":`+list+`,"n":7}`), &d)
	parts := jsontext.Parts(jsontext.Raw(list), func([]byte) (none struct{}) { return none })
	if !isWhole || d.N != 7 || len(d.List) != most || len(parts) != most {
		t.Errorf("%d elements, %d parts, n is %d", len(d.List), len(parts), d.N)
	}
}
