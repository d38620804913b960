package jp

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/transcript"
)

func TestActivated(t *testing.T) {
	t.Parallel()
	f := newWritten(t)
	session := ""
	getenv := func(name string) string {
		if name == "JP_SESSION" {
			return session
		}
		return f.getenv(name)
	}
	dir := "data/workspace/project-" + testID + "/sessions/"
	const named = "env-JP_SESSION-3fd30542fe3f61b1.json" // printf mine | sha256sum
	history := `{"history":[{"id":17000000002,"activated_at":"2026-05-29T20:04:40Z"},{"id":17000000001}],`
	tests := []struct {
		name, file, text string
		want             []transcript.ID
		fails            bool
	}{
		{"none", "other.json", "{}", nil, false},
		{"mine", named, history + `"id":"mine","source":{"type":"env","key":"JP_SESSION"}}`, []transcript.ID{userOnly, projected}, false},
		{"without an id", named, history + `"source":{}}`, []transcript.ID{userOnly, projected}, false},
		{"broken", named, "{", nil, true},
	}
	session = "mine"
	for _, test := range tests {
		f.write(dir+test.file, test.text)
		w, err := Open(Options{Dir: f.root, Getenv: getenv})
		if err != nil {
			t.Fatal(err)
		}
		got, err := w.Activated()
		if diff := cmp.Diff(test.want, got); diff != "" || (err != nil) != test.fails {
			t.Errorf("%s: %v (-want +got):\n%s", test.name, err, diff)
		}
	}
	session = "../../../secret"
	f.write("data/secret.json", history+`"source":{}}`)
	w, err := Open(Options{Dir: f.root, Getenv: getenv})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := w.Activated(); got != nil || err != nil {
		t.Errorf("a session with slashes: %v, %v", got, err)
	}
}
