package jp

import (
	"context"
	"fmt"
	"path"

	"github.com/convtools/convtools/runtime/store"
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
	s, _, err := w.Open(ctx)
	if err != nil {
		return "", err
	}
	defer s.Close()
	c, err := s.Find(ctx, id)
	if err != nil {
		return "", err
	}
	p := c.Record.(*record).place
	if at := s.pathOf(&p, file); at != "" {
		return at, nil
	}
	return "", fmt.Errorf("%s has no %s", id, fileName(file))
}

// Paths returns what finds the directories of conversations, as [Workspace.Path]
// does, without looking for each; it returns the empty string for one that is not
// there. Close is to be called when it is used no more.
func (w *Workspace) Paths(ctx context.Context) (path func(transcript.ID) string, closeAll func(), err error) {
	s, _, err := w.Open(ctx)
	if err != nil {
		return nil, nil, err
	}
	l, err := s.list(ctx, store.Live|store.Archived)
	if err != nil {
		s.Close()
		return nil, nil, err
	}
	return func(id transcript.ID) string {
		n, _ := numberOf(id)
		p, ok := l.locate(n, false)
		if !ok {
			return ""
		}
		return s.pathOf(&p, Directory)
	}, s.Close, nil
}

// fileName is the name of a file in the directory of a conversation.
func fileName(file File) string { return []string{".", eventsFile, metadataFile, baseConfigFile}[file] }

// pathOf returns the path of the copy of a file that counts; empty where there is
// none.
func (s *session) pathOf(p *place, file File) string {
	order := s.byAge(p, eventsFile, baseConfigFile)
	if file == MetadataFile {
		order = s.byMetadata(p)
	}
	for _, i := range order {
		if at := path.Join(p.dirs[i], fileName(file)); s.exists(i, at) {
			return s.path(i, at)
		}
	}
	return ""
}
