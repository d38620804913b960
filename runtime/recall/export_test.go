package recall

import (
	"time"

	"github.com/convtools/convtools/runtime/conversations"
)

// New returns handlers for the conversations that open opens. Each call opens
// those of its directory, which may be anything --workspace takes, and closes them
// where they are an [io.Closer].
func New(open func(dir string) (conversations.Source, error)) *Tools {
	return &Tools{
		open:    func(dir string, _ conversations.Options) (conversations.Source, error) { return open(dir) },
		sources: func(string) ([]string, error) { return nil, nil },
		now:     time.Now,
	}
}
