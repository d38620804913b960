package history

import (
	"path/filepath"
	"testing"
)

func TestWorkspaceDir(t *testing.T) {
	t.Parallel()
	for about, want := range map[string]string{
		`{"folder":"file:///home/mina/a%20b"}`:                               "/home/mina/a b",
		`{"workspace":"file:///home/mina/a/x.code-workspace"}`:               "/home/mina/a",
		`{"folder":"vscode-remote://wsl%2Bubuntu/home/mina/a"}`:              "/home/mina/a",
		`{"folder":"vscode-remote://ssh-remote%2Bhost.example/home/mina/a"}`: "",
		`{"folder":"file:///c%3A/Users/mina"}`:                               "c:/Users/mina",
		`{"folder":17}`:                                                      "", "": "", `{"folder":"%"}`: "",
	} {
		if got := WorkspaceDir([]byte(about)); got != filepath.FromSlash(want) {
			t.Errorf("%s is %q, want %q", about, got, want)
		}
	}
}
