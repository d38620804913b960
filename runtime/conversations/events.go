package conversations

import (
	"context"
	"errors"
)

// SearchEvents implements [Source].
func (l *Library) SearchEvents(ctx context.Context, q EventQuery) (EventMatches, error) {
	return EventMatches{}, errors.ErrUnsupported
}
