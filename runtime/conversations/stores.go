package conversations

import (
	"context"
	"errors"
	"os"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/claudecode"
	"github.com/convtools/convtools/runtime/store/codex"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/transcript"
)

// session is a store of the sessions that a program recorded on this machine, for one
// project.
type session interface {
	store.Store
	// Any reports whether there is a conversation of the project.
	Any(ctx context.Context) bool
}

// sessions returns the stores of sessions that there are. This is the list of kinds of
// stores, with [Open] and [ParseID].
func sessions(dir string, getenv func(string) string) []session {
	var found []session
	if s, ok := claudecode.Open(claudecode.Options{Dir: dir, Getenv: getenv}); ok {
		found = append(found, s)
	}
	if s, ok := codex.Open(codex.Options{Dir: dir, Getenv: getenv}); ok {
		found = append(found, s)
	}
	return found
}

// Open returns a library of what was recorded for a project: by JP in its workspace,
// and by other programs on this machine. The error is a [*NoWorkspaceError] where
// there is no workspace, and no other program has recorded anything.
func Open(o Options) (*Library, error) {
	w, err := jp.Open(jp.Options{Dir: o.Dir, Getenv: o.Getenv})
	var nowhere *NoWorkspaceError
	if err != nil && !errors.As(err, &nowhere) {
		return nil, err
	}
	var stores []store.Store
	dir := o.Dir
	if w != nil {
		stores = append(stores, w)
		if _, err := os.Stat(dir); dir != "" && err != nil {
			dir = w.Root() // it was named by its id
		}
	}
	for _, s := range sessions(dir, o.Getenv) {
		if w != nil || s.Any(context.Background()) {
			stores = append(stores, s)
		}
	}
	if len(stores) == 0 {
		return nil, err
	}
	return New(o, stores...), nil
}

// ParseID reads the id of a conversation in any spelling of any kind of store. It
// does not look whether there is such a conversation. The error is a
// [*BadIDError].
func ParseID(text string) (transcript.ID, error) {
	switch {
	case claudecode.Claims(text):
		return claudecode.ParseID(text)
	case codex.Claims(text):
		return codex.ParseID(text)
	}
	return jp.ParseID(text)
}
