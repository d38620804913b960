package main

import (
	"strings"
	"testing"
)

func TestCheckFound(t *testing.T) {
	t.Parallel()
	const (
		first = `<conversation id="claude-1"><title>t</title><event event="2"><hit>` + agreed + `</hit></event></conversation>`
		own   = `<conversation id="claude-2"><title>t</title><event event="1"><hit>` + asked + `</hit></event></conversation>`
		note  = `<note>Left out: the current conversation, claude-2 (include_current=true searches it too).</note>`
	)
	grep := func(body string) string { return "<conversation_grep>" + body + "</conversation_grep>" }
	read := "<conversation_read>" + told + "</conversation_read>"
	for name, test := range map[string]struct {
		shown []string
		want  string // of the error; empty for none
	}{
		"the first session":       {[]string{grep(first + note), read}, ""},
		"its own, too":            {[]string{grep(first + own + note), read}, "alone"},
		"its own alone":           {[]string{grep(own + note), read}, "its own session"},
		"its own not recorded":    {[]string{grep(first), read}, ""},
		"its own not known":       {[]string{grep(first + "<note>Which conversation this is cannot be told.</note>"), read}, "is not known"},
		"another one":             {[]string{grep(first + note), "<conversation_read/>"}, "did not read"},
		"its own in what it read": {[]string{grep(first + note), read + askAgain}, "its own session"},
		"no read":                 {[]string{grep(first + note)}, "1 answers"},
		"no answer":               {[]string{"tool failed", read}, "reading the answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var shown []result
			for _, text := range test.shown {
				shown = append(shown, result{Text: text})
			}
			id, err := checkFound(shown)
			switch {
			case test.want == "" && (err != nil || id != "claude-1"):
				t.Errorf("%q, %v", id, err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}
