package command

import (
	"context"

	"github.com/convtools/convtools/runtime/conversations"
)

// SearchEvents implements [conversations.Source].
func (s source) SearchEvents(context.Context, conversations.EventQuery) (conversations.EventMatches, error) {
	return conversations.EventMatches{}, conversations.ErrUnsupported
}
