package cases_test

import (
	"testing"

	"github.com/convtools/convtools/runtime/base/cases"
)

func TestOf(t *testing.T) {
	for times, want := range map[string]uint64{"": 20, "1": 20, "3": 60, "0": 20, "-3": 20, "many": 20} {
		t.Setenv(cases.Times, times)
		if got := cases.Of(uint64(20)); got != want {
			t.Errorf("%q: %d cases, want %d", times, got, want)
		}
	}
}
