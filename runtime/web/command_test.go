package web

import (
	"strings"
	"testing"

	"github.com/convtools/convtools/runtime/toolset"
)

func TestNoBrowser(t *testing.T) { // not parallel: it sets the environment
	t.Setenv("PATH", t.TempDir())
	var said strings.Builder
	openBrowser(&toolset.Host{Stderr: &said}, "http://127.0.0.1:1/?token=A")
	if want := "warning: no browser has opened; open the address yourself\n"; said.String() != want {
		t.Errorf("it says %q, want %q", said.String(), want)
	}
}
