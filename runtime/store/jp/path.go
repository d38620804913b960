package jp

import (
	"context"
	"fmt"
	"path"
	"slices"

	"github.com/convtools/convtools/runtime/transcript"
)

// File is one of the files of a conversation, or all of them.
type File uint8

// The files.
const (
	Directory File = iota // that whose events count
	EventsFile
	MetadataFile
	BaseConfigFile
)

// Path returns the path of the directory of a conversation, or of one of its
// files: of the copy that counts. A file that it does not have is an error, and so
// is a conversation that is not there, which is a [*store.NotFoundError].
func (w *Workspace) Path(ctx context.Context, id transcript.ID, file File) (string, error) {
	opened, _, err := w.Open(ctx)
	if err != nil {
		return "", err
	}
	s := opened.(*session)
	defer s.Close()
	c, err := s.Find(ctx, id)
	if err != nil {
		return "", err
	}
	p := c.Record.(*record).place
	name := map[File]string{Directory: ".", EventsFile: eventsFile, MetadataFile: metadataFile, BaseConfigFile: baseConfigFile}[file]
	order := s.byAge(&p, eventsFile, baseConfigFile)
	if file == MetadataFile {
		if order = s.byAge(&p, metadataFile); p.archived && p.dirs[projectStore] != "" {
			order = slices.Insert(slices.DeleteFunc(order, func(i int) bool { return i == projectStore }), 0, projectStore)
		}
	}
	for _, i := range order {
		if at := path.Join(p.dirs[i], name); s.exists(i, at) {
			return s.path(i, at), nil
		}
	}
	return "", fmt.Errorf("%s has no %s", id, name)
}
