package model_test

import (
	"strings"
	"testing"

	"github.com/convtools/convtools/runtime/model"
)

func TestFlat(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 70)
	for name, want := range map[string]string{
		"conv.create":           "conv_create",
		"conv_create":           "conv_create",
		"server.get-it.now":     "server_get-it_now",
		"größe":                 "gr__e",
		"":                      "_",
		strings.Repeat("b", 64): strings.Repeat("b", 64),
		// printf aaa… | sha256sum begins with 6bd5e503.
		long: long[:55] + "_6bd5e503",
	} {
		if got := model.Flat(name); got != want {
			t.Errorf("Flat(%q) = %q, want %q", name, got, want)
		}
	}
	if model.Flat(long+"b") == model.Flat(long+"c") {
		t.Error("two long names have one flat name")
	}
}
