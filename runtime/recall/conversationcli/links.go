package conversationcli

import (
	"context"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/convtools/convtools/runtime/transcript"
)

// links make ids of conversations open their directories, on a terminal that shows
// colour: as OSC 8, which terminals that do not know it leave out.
type links struct {
	path  func(transcript.ID) string // nil where there are to be none
	close func()
}

// links returns the links of the conversations of the workspace. Those that cannot
// be found are no links.
func (c *commands) links(ctx context.Context, f format) links {
	none := links{close: func() {}}
	if !c.linking(f) {
		return none
	}
	w, err := c.workspace()
	if err != nil {
		return none
	}
	path, closeAll, err := w.Paths(ctx)
	if err != nil {
		return none
	}
	return links{path: path, close: closeAll}
}

// linking reports whether there are links at all. The console of Linux has colour,
// and nothing to open a file with.
func (c *commands) linking(f format) bool { return f.colour && c.host.Getenv("TERM") != "linux" }

// id is an id, and a link where there is something to open.
func (l links) id(id transcript.ID) string {
	if l.path == nil {
		return string(id)
	}
	path := l.path(id)
	if path == "" {
		return string(id)
	}
	return link(path, string(id))
}

// link is a text that opens a file.
func link(path, text string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // of a drive
	}
	to := url.URL{Scheme: "file", Path: path}
	return "\x1b]8;;" + to.String() + "\x1b\\" + text + "\x1b]8;;\x1b\\"
}
