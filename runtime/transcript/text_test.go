package transcript_test

import (
	"testing"

	"github.com/convtools/convtools/runtime/transcript"
)

func TestAppendUnescaped(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		``:                   "",
		`plain 東京`:           "plain 東京",
		`\"\\\/\b\f\n\r\t`:   "\"\\/\b\f\n\r\t",
		`\u0041\u00e9\u6771`: "Aé東",
		`\ud83d\ude00`:       "😀",
		`\uD83D\uDE00`:       "😀",
		`\ud83d`:             "\ufffd",
		`\ude00x`:            "\ufffdx",
		`\ud83d\ud83d\ude00`: "\ufffd😀",
		`\ud83d\n`:           "\ufffd\n",
		"a\xffb\xc3":         "a\ufffdb\ufffd",
		"\xe6\x9d\xff":       "\ufffd\ufffd\ufffd",
		`\x\u12\u12g4\`:      `\x\u12\u12g4\`,
		"\xe6\x9d\\n":        "\ufffd\ufffd\n",
		`\u0000`:             "\x00",
		"raw\ttab":           "raw\ttab",
	} {
		if got := string(transcript.AppendUnescaped([]byte(">"), []byte(raw))); got != ">"+want {
			t.Errorf("AppendUnescaped(%q) = %q, want %q", raw, got, want)
		}
	}
}

func TestAppendQuoted(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                 `""`,
		"a<b>&c\u2028東":    "\"a<b>&c\u2028東\"",
		"\"\\/\b\f\n\r\t":  `"\"\\/\b\f\n\r\t"`,
		"\x00\x1b\x1f\x7f": "\"\\u0000\\u001b\\u001f\x7f\"",
		"\xff":             "\"\ufffd\"",
	} {
		if got := string(transcript.AppendQuoted([]byte(">"), []byte(text))); got != ">"+want {
			t.Errorf("AppendQuoted(%q) = %s, want %s", text, got, want)
		}
	}
}
