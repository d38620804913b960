package recall

import (
	"context"
	"errors"
	"fmt"

	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/conversations"
)

// reads returns whose conversations the tools read, for a person.
func (f *family) reads(context.Context) string {
	if line := f.line(); line != "" {
		return "Conversations are read by " + line + " (" + f.setting + ")."
	}
	library, err := f.library(f.host.Dir)
	var missing *conversations.NoWorkspaceError
	var excluded *conversations.ExcludedError
	switch {
	case errors.As(err, &excluded) && excluded.Remembered != "":
		return "No conversation of this project is read: " + excluded.By + " excluded it, and it stays so now that it is gone; " + takeBack(excluded) + " takes it back."
	case errors.As(err, &excluded):
		return "No conversation of this project is read: " + excluded.By + " excludes it."
	case errors.As(err, &missing):
		return f.readsNothing()
	case err != nil:
		return "No conversation is read: " + personal(err).Error() + "."
	}
	var from []string
	for _, o := range library.Origins() {
		from = append(from, o.Program+" in "+config.Short(o.Place, f.host.Getenv))
	}
	if len(from) == 0 {
		return f.readsNothing()
	}
	return fmt.Sprintf("The tools read conversations of the project they are called from, recorded by %s, and conversation_search those of all projects and what was imported; %s stores shows which.", join(from, "and"), f.host.Name)
}

func (f *family) readsNothing() string {
	return fmt.Sprintf("The tools read conversations of the project they are called from, recorded by %s: there are none yet; and conversation_search those of all projects and what was imported.", join(conversations.Programs(), "or"))
}
