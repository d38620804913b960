package knowledge

import (
	"context"
	"errors"

	"github.com/convtools/convtools/generated/knowledge"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/knowledge/kbconfig"
)

// Handler serves the knowledge tools. Each call reads the configuration of the
// workspace that it comes from.
type Handler struct {
	opts Options
}

var _ knowledge.Handler = (*Handler)(nil)

// NewHandler returns a handler for calls from any workspace.
func NewHandler(opts Options) *Handler { return &Handler{opts} }

// Learn answers learn, as [Base.Learn] does.
func (h *Handler) Learn(ctx context.Context, call contract.Call, p knowledge.LearnParams) (string, error) {
	b, err := Open(call.Context.Dir, h.opts)
	if err != nil {
		return "", openFailed(err)
	}
	return b.Learn(ctx, p.Topic, p.Subjects, call.Notes)
}

// openFailed makes an error of [Open] into one for the caller of a tool, who
// cannot put it right, but can tell the user where to.
func openFailed(err error) error {
	var broken *kbconfig.Error
	if errors.As(err, &broken) {
		return &contract.Error{Message: "Nothing can be learned until the user has corrected the configuration of the knowledge base: " + err.Error(), Err: err}
	}
	return &contract.Error{Message: "Nothing can be learned: the directory that the call comes from cannot be read (" + cause(err) + ").", Err: err}
}
