package gocode

import "testing"

// TestRunOf is about which patterns become loops. That the loops match what the
// patterns match is tested on the generated code.
func TestRunOf(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]struct {
		loop, ascii bool
		min, max    int
	}{
		`^[A-Za-z0-9._-]{1,128}$`: {true, true, 1, 128},
		`^[a-c]*$`:                {true, true, 0, -1},
		`^[a-c]+$`:                {true, true, 1, -1},
		`^[a-c]?$`:                {true, true, 0, 1},
		`^[a-c]$`:                 {true, true, 1, 1},
		`^[a-c]{3}$`:              {true, true, 3, 3},
		`^[a-c]{3,}$`:             {true, true, 3, -1},
		`^\d{4}$`:                 {true, true, 4, 4},
		`^x+$`:                    {true, true, 1, -1},
		`^[^/]+$`:                 {true, false, 1, -1},
		`^[é-ü]{1,2}$`:            {true, false, 1, 2},
		`[a-c]+`:                  {},
		`^[a-c]+`:                 {},
		`[a-c]+$`:                 {},
		`(?m)^[a-c]+$`:            {},
		`(?i)^x+$`:                {},
		`^(a|b)+$`:                {},
		`^([a-c])+$`:              {},
		`^[a-c]+[0-9]$`:           {},
		`^[a-c]+$|^$`:             {},
		`^\p{L}+$`:                {}, // too many ranges
		`^$`:                      {},
		`^ab$`:                    {},
		`(`:                       {},
		``:                        {},
	} {
		r, loop := runOf(pattern)
		if loop != want.loop || loop && (r.ascii() != want.ascii || r.min != want.min || r.max != want.max) {
			t.Errorf("%s: loop %v, %+v, want %+v", pattern, loop, r, want)
		}
	}
}
