package jp

import (
	"context"
	"fmt"
	"path"

	"github.com/convtools/convtools/runtime/transcript"
)

// File is one of the files of a conversation, or all of them.
type File string

// The files.
const (
	Directory      File = "." // that whose events count
	EventsFile     File = eventsFile
	MetadataFile   File = metadataFile
	BaseConfigFile File = baseConfigFile
)

// Paths returns what finds the files of conversations, each of the copy that counts, as they
// are now. A file that it does not have is an error, and so is a conversation that is not there,
// which is a [*store.NotFoundError]. closeAll is to be called when it is used no more.
func (w *Workspace) Paths(ctx context.Context) (find func(transcript.ID, File) (string, error), closeAll func(), err error) {
	s, _, err := w.Open(ctx)
	if err != nil {
		return nil, nil, err
	}
	return func(id transcript.ID, file File) (string, error) {
		found, err := s.Find(ctx, id)
		if err != nil {
			return "", err
		}
		p := found.Record.(*record).place
		order := s.byStream(&p)
		if file == MetadataFile {
			order = s.byMetadata(&p)
		}
		for _, i := range order {
			if at := path.Join(p.dirs[i], string(file)); s.exists(i, at) {
				return s.path(i, at), nil
			}
		}
		return "", fmt.Errorf("%s has no %s", id, file)
	}, s.Close, nil
}
