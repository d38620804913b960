package chatgptcontent_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/store/internal/chatgptcontent"
)

// Whatever stands there is text, and an array of texts is what encoding/json reads.
func FuzzParts(f *testing.F) {
	f.Add([]byte(`["a\u5929","",null,"b\n\"c\""]`))
	f.Add([]byte(`[{"content_type":"image_asset_pointer","width":1,"height":2},{"text":"x"},{"content_type":"\ud800"}]`))
	f.Add([]byte(` [[[]]] x`))
	f.Fuzz(func(t *testing.T, content []byte) {
		text, ok := chatgptcontent.Parts(content)
		if !ok && len(text) > 0 {
			t.Fatal("text of no parts")
		}
		got := string(text)
		if !utf8.ValidString(got) {
			t.Fatalf("%q", got)
		}
		var want []*string
		if json.Unmarshal(content, &want) != nil || want == nil || !utf8.Valid(content) {
			return
		}
		var texts []string
		for _, s := range slices.DeleteFunc(want, func(s *string) bool { return s == nil || *s == "" }) {
			texts = append(texts, *s)
		}
		if joined := strings.Join(texts, "\n"); !ok || got != joined {
			t.Errorf("%q, want %q", got, joined)
		}
	})
}

func TestContent(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		`{"content_type":"text","parts":["a",{"content_type":"audio_asset_pointer","asset_pointer":"x"}]}`: "text: a|[audio]",
		`{"content_type":"thoughts","thoughts":[{"summary":"S","content":"C","chunks":["C"]}]}`:            "thoughts: S|C",
		`{"content_type":"code","language":"sh","text":"ls"}`:                                              "code: ls",
		`{"content_type":"new","deep":[{"er":{"caption":"x"}},"y",3,null,true]}`:                           "new: x|y",
		`{"parts":null,"text":""}`: ": ",
		`"plain"`:                  ": plain",
		`null`:                     ": ",
		`[1]`:                      ": ",
	} {
		text, contentType := chatgptcontent.Content([]byte(content))
		if got := contentType + ": " + strings.ReplaceAll(string(text), "\n", "|"); got != want {
			t.Errorf("%s: %s, want %s", content, got, want)
		}
	}
}
