package history

import (
	"cmp"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"github.com/convtools/convtools/runtime/store/jsontext"
)

// WorkspaceDir returns the directory of the project that a workspace.json names, or "" if it names none on this
// machine or in WSL. VS Code and programs made of it write such files. They name a folder, or a file with a list of
// folders, whose directory is returned.
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
	parsed, err := url.Parse(uri)
	if err != nil || parsed.Scheme != "file" {
		return ""
	}
	dir := parsed.Path
	if names.Folder == "" { // the path is that of a file
		dir = path.Dir(dir)
	}
	if len(dir) > 2 && dir[2] == ':' { // /c:/Users is c:/Users
		dir = dir[1:]
	}
	return filepath.FromSlash(dir)
}
