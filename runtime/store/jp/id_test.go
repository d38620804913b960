package jp

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

func TestParseID(t *testing.T) {
	t.Parallel()
	const id = transcript.ID("jp-c17800836875")
	for _, s := range []string{
		"jp-c17800836875",
		"jp-c17800836875-otvo8",
		"17800836875",
		"17800836875-jp-init_xdg.v2",
		"17800836875-",
		"jp-c0017800836875",
	} {
		if got, err := ParseID(s); err != nil || got != id {
			t.Errorf("ParseID(%q) = %v, %v; want %v", s, got, err, id)
		}
	}
	for s, want := range map[string]string{
		"":                       "expected \"jp-c\" and digits",
		"jp-c":                   "expected \"jp-c\" and digits",
		"jp-x17800836875":        "expected \"jp-c\" and digits",
		"jp-17800836875":         "expected \"jp-c\" and digits",
		"JP-C17800836875":        "expected \"jp-c\" and digits",
		"hello":                  "expected \"jp-c\" and digits",
		"-17800836875":           "expected \"jp-c\" and digits",
		"jp-c-17800836875":       "expected \"jp-c\" and digits",
		"jp-c17800836875-":       "expected \"jp-c\" and digits",
		"jp-c17800836875-Otvo8":  "expected \"jp-c\" and digits",
		"../../etc/passwd":       "expected \"jp-c\" and digits",
		"17800836875 ":           "expected \"jp-c\" and digits",
		"17800836875\x00":        "expected \"jp-c\" and digits",
		strings.Repeat("1", 129): "expected \"jp-c\" and digits",
		"jp-c17800836875x":       "expected \"jp-c\" and digits",
		"9223372036854775808":    "expected \"jp-c\" and digits",
	} {
		_, err := ParseID(s)
		var idErr *store.BadIDError
		if !errors.As(err, &idErr) || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseID(%q): error %v, want one with %q", s, err, want)
		}
	}
}

func TestParseDirName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]number{
		"17800836875":             17800836875,
		"17800836875-größe-东京":    17800836875,
		"17800836875--":           17800836875,
		".17800836875":            -1,
		".trash":                  -1,
		"":                        -1,
		"-1":                      -1,
		"+1":                      -1,
		"17800836875.tmp":         -1,
		"jp-c17800836875":         -1,
		"99999999999999999999-no": -1,
		"notes":                   -1,
	} {
		got, ok := parseDirName(name)
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("ParseDirName(%q) = %d, %v; want %d", name, got, ok, want)
		}
	}
}

func TestNumber(t *testing.T) {
	t.Parallel()
	const n = number(17800836875)
	if got := n.id(); got != "jp-c17800836875" {
		t.Errorf("id: %s", got)
	}
	if got, want := n.created(), time.Date(2026, 5, 29, 19, 41, 27, 500_000_000, time.UTC); !got.Equal(want) || got.Location() != time.UTC {
		t.Errorf("created: %v, want %v", got, want)
	}
	if got, ok := numberOf(n.id()); !ok || got != n {
		t.Errorf("numberOf: %d, %v", got, ok)
	}
	for _, id := range []transcript.ID{"", "jp-c", "jp-c007", "jp-c-1", "17800836875", "claude-17800836875"} {
		if got, ok := numberOf(id); ok {
			t.Errorf("numberOf(%s) = %d", id, got)
		}
	}
	// The last time that can be written, and the first that cannot.
	if got := number(2534023007999).created(); got.Year() != 9999 {
		t.Errorf("created: %v", got)
	}
	for _, n := range []number{2534023008000, 999999999999999999, 9223372036854775807} {
		if got := n.created(); !got.IsZero() {
			t.Errorf("%d was created %v", n, got)
		}
	}
}
