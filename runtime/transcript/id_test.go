package transcript_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/transcript"
)

func TestParseID(t *testing.T) {
	t.Parallel()
	const id = transcript.ID(17800836875)
	for _, s := range []string{
		"jp-c17800836875",
		"jp-c17800836875-otvo8",
		"17800836875",
		"17800836875-jp-init_xdg.v2",
		"17800836875-",
		"jp-c0017800836875",
	} {
		if got, err := transcript.ParseID(s); err != nil || got != id {
			t.Errorf("ParseID(%q) = %v, %v; want %v", s, got, err, id)
		}
	}
	for s, want := range map[string]string{
		"":                             "it is empty",
		"jp-c":                         "expected \"jp-c\" and digits",
		"jp-x17800836875":              "expected \"jp-c\" and digits",
		"jp-17800836875":               "expected \"jp-c\" and digits",
		"JP-C17800836875":              "expected \"jp-c\" and digits",
		"hello":                        "expected \"jp-c\" and digits",
		"-17800836875":                 "expected \"jp-c\" and digits",
		"jp-c-17800836875":             "expected \"jp-c\" and digits",
		"jp-c17800836875-":             "only a workspace id",
		"jp-c17800836875-Otvo8":        "only a workspace id",
		"jp-c17800836875x":             "expected \"jp-c\" and digits",
		"9223372036854775808":          "larger than 9223372036854775807",
		"../../etc/passwd":             "the character at byte 2",
		"17800836875 ":                 "the character at byte 11",
		"17800836875\x00":              "the character at byte 11",
		"17800836875-größe":            "the character at byte 14",
		strings.Repeat("1", 129):       "129 bytes long",
		"1-" + strings.Repeat("é", 99): "200 bytes long",
	} {
		_, err := transcript.ParseID(s)
		var idErr *transcript.IDError
		if !errors.As(err, &idErr) || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseID(%q): error %v, want one with %q", s, err, want)
		}
	}
}

func TestParseDirName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]transcript.ID{
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
		got, ok := transcript.ParseDirName(name)
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("ParseDirName(%q) = %d, %v; want %d", name, got, ok, want)
		}
	}
}

func TestID(t *testing.T) {
	t.Parallel()
	const id = transcript.ID(17800836875)
	if got := id.String(); got != "jp-c17800836875" {
		t.Errorf("String: %s", got)
	}
	if got, want := id.Created(), time.Date(2026, 5, 29, 19, 41, 27, 500_000_000, time.UTC); !got.Equal(want) || got.Location() != time.UTC {
		t.Errorf("Created: %v, want %v", got, want)
	}
}

func TestParseTimestamp(t *testing.T) {
	t.Parallel()
	utc := func(h, m, s, ns int) time.Time { return time.Date(2026, 5, 29, h, m, s, ns, time.UTC) }
	for s, want := range map[string]time.Time{
		"2026-05-29 19:42:36.46732":        utc(19, 42, 36, 467320000),
		"2026-05-29 19:42:36.0":            utc(19, 42, 36, 0),
		"2026-05-29 19:42:36":              utc(19, 42, 36, 0),
		"2026-05-29 19:42:36.123456789":    utc(19, 42, 36, 123456789),
		"2026-05-29 19:42:36.1234567899":   utc(19, 42, 36, 123456789),
		"2026-05-29T19:42:36Z":             utc(19, 42, 36, 0),
		"2026-05-29t19:42:36.5z":           utc(19, 42, 36, 500000000),
		"2026-05-29T19:42:36.467321+02:00": utc(17, 42, 36, 467321000),
		"2026-05-29T19:42:36-05:30":        time.Date(2026, 5, 30, 1, 12, 36, 0, time.UTC),
		"2024-02-29 00:00:00.0":            time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC),
		"2026-05-29 19:42:60":              utc(19, 43, 0, 0),
	} {
		got, err := transcript.ParseTimestamp(s)
		if err != nil || !got.Equal(want) || got.Location() != time.UTC {
			t.Errorf("ParseTimestamp(%q) = %v, %v; want %v", s, got, err, want)
		}
	}
	for _, s := range []string{
		"", "now", "2026-05-29", "2026-05-29 19:42", "2026-05-29_19:42:36", "2026-13-01 00:00:00",
		"2026-00-01 00:00:00", "2026-02-29 00:00:00", "2026-05-32 00:00:00", "2026-05-29 24:00:00", "2026-05-29 19:60:00",
		"2026-05-29 19:42:61", "2026-05-29 19:42:36.", "2026-05-29 19:42:36.x", "2026-05-29 19:42:36+0200",
		"2026-05-29 19:42:36+24:00", "2026-05-29 19:42:36 UTC", "2026-05-29 19:42:36.0 ", "+026-05-29 19:42:36",
		strings.Repeat("9", 1000),
	} {
		if got, err := transcript.ParseTimestamp(s); err == nil || !strings.Contains(err.Error(), "invalid timestamp") || len(err.Error()) > 300 {
			t.Errorf("ParseTimestamp(%.40q) = %v, %v; want a short error", s, got, err)
		}
	}
}
