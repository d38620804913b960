package history

import (
	"cmp"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"github.com/convtools/convtools/runtime/store/jsontext"
)

// WorkspaceDir returns the directory of the project that the workspace.json of VS Code or a program made of it
// names, or "": that of a folder on this machine or in WSL, or that of a file with a list of folders.
func WorkspaceDir(about []byte) string {
	var names struct {
		Folder    string `json:"folder"`
		Workspace string `json:"workspace"`
	}
	jsontext.Decode(about, &names)
	uri := cmp.Or(names.Folder, names.Workspace)
	if inWSL, ok := strings.CutPrefix(uri, "vscode-remote://wsl%2B"); ok {
		_, file, _ := strings.Cut(inWSL, "/")
		uri = "file:///" + file
	}
	at, err := url.Parse(uri)
	if err != nil || at.Scheme != "file" {
		return ""
	}
	dir := at.Path
	if names.Folder == "" {
		dir = path.Dir(dir)
	}
	if len(dir) > 2 && dir[2] == ':' { // /c:/Users
		dir = dir[1:]
	}
	return filepath.FromSlash(dir)
}
