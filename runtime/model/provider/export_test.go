package provider

import (
	"context"
	"io"
	"time"

	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/model"
)

// Bound has a model read less of a response than it does otherwise.
func (m *Model) Bound(bytes int64) { m.maxBytes = bytes }

// After replaces [time.After] in the wait between attempts.
func (m *Model) After(after func(time.Duration) <-chan time.Time) { m.after = after }

// ReadEvents returns the events of a stream, each as its data.
func ReadEvents(r io.Reader) (all []string) {
	_ = scanEvents(r, func(data []byte) error {
		all = append(all, string(data))
		return nil
	})
	return all
}

// Decode returns what an interface makes of a stream.
func Decode(api string, source io.Reader) (model.Response, error) {
	m := New("m", config.Model{API: api, Model: "m"}, nil)
	s := &stream{request: request{from: api + " m"}, tokens: map[string]int64{}, message: fields{}, ids: map[string]bool{}, delta: func(string) {}}
	err := m.readStream(context.Background(), s, source)
	got := model.Response{Items: s.items}
	s.addUsage(&got.Usage)
	return got, err
}
