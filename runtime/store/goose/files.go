package goose

import (
	"cmp"
	"context"
	"os"
	"strings"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/store/internal/messagedb"
	"github.com/convtools/convtools/runtime/store/jsontext"
)

// files is the sessions of versions before 1.10, each in a file of JSON lines. It implements [store.Store].
type files struct{ history.Store }

const extension = ".jsonl"

// entry is the file of a session.
type entry struct{ history.Entry[history.Session] }

// line is the first line of a file, or a message.
type line struct {
	Dir         string       `json:"working_dir"`
	Description string       `json:"description"`
	Role        string       `json:"role"`
	Created     int64        `json:"created"`
	Content     jsontext.Raw `json:"content"`
	Metadata    jsontext.Raw `json:"metadata"`
}

// List implements [store.Store].
func (s *files) List(ctx context.Context, scope store.Scope) (*store.Listing, error) {
	find := func(root *history.Root) ([]*entry, []store.Problem) {
		return history.Entries(&s.Store, root, ".", nil, func(e *entry) bool {
			session, isLog := strings.CutSuffix(e.File, extension)
			e.ID = IDs().ID(session, "")
			return isLog && history.IsName(session)
		})
	}
	return history.ListFiles(ctx, &s.Store, scope, find, nil, nil)
}

// Peek implements [history.Listed]: it sets the metadata of the session, and returns the working directory.
func (e *entry) Peek(ctx context.Context, _ *history.Root, f *os.File, size int64) (dir string, err error) {
	to, m := &history.Recorder{}, &e.Meta
	_, err = jsonl.Peek(ctx, f, size, to.NeedsRequest, func(data []byte) { // reading goes on while NeedsRequest returns true
		l, _ := recordLine(to, data)
		m.Dir, m.Title = cmp.Or(m.Dir, l.Dir), cmp.Or(m.Title, l.Description)
		m.Created = cmp.Or(m.Created, history.Moment(l.Created))
	})
	m.Note(to) // sets the first request and the time of the last event
	return m.Dir, err
}

// Decode implements [history.File].
func (e *entry) Decode(ctx context.Context, root *history.Root, to *history.Recorder) error {
	return to.Lines(ctx, root, e.File, func(data []byte, _ int64) bool {
		_, ok := recordLine(to, data)
		return ok
	})
}

// recordLine adds the events of a line to a recorder, and returns the line; false if it is damaged.
func recordLine(to *history.Recorder, data []byte) (l line, ok bool) {
	l, ok = jsontext.Parse[line](data)
	if l.Role != "" {
		record(to, &messagedb.Message{Role: l.Role, At: history.Moment(l.Created), About: l.Metadata, Data: l.Content})
	}
	return l, ok
}
