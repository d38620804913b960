package mcpserver

import (
	"context"
	"crypto/sha256"
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"
	"time"

	"github.com/convtools/convtools/runtime/contract"
)

const (
	// lookPause is how long after a look for changes requests do not lead to another
	// one, unless they ask for a list.
	lookPause = time.Second
	// idlePause is how long it may take until a client that waits is told of a
	// change.
	idlePause = 10 * time.Second
	// lookShare keeps looks for changes to this part of the time: the longer one
	// takes, because the knowledge base is large, the longer the pause after it.
	lookShare = 100
	// resourcesTime bounds looking for other resources, which a client waits for
	// when it starts. Of a knowledge base that takes longer no changes are told.
	resourcesTime = time.Second
)

// offered is what clients were offered last.
type offered struct {
	tools atomic.Pointer[[]contract.Tool]
	took  atomic.Int64 // nanoseconds of the last look

	turn      chan struct{} // has a value while somebody looks, who owns what follows
	begun     time.Time     // when the last look began
	resources [sha256.Size]byte
	counted   bool // resources is of a look that saw everything
}

func newOffered() *offered { return &offered{turn: make(chan struct{}, 1)} }

// list returns the tools that are offered.
func (o *offered) list() []contract.Tool {
	if tools := o.tools.Load(); tools != nil {
		return *tools
	}
	return nil
}

func (s *Server) names() []string {
	tools := s.offered.list()
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}
	return names
}

func (s *Server) knows(tool string) bool {
	return slices.ContainsFunc(s.offered.list(), func(t contract.Tool) bool { return t.Name == tool })
}

// refresh looks for changes, unless one began less than pause ago, and has the
// SDK tell clients about those there are. A pause of 0 demands a look that begins
// now, or later for somebody else.
func (s *Server) refresh(ctx context.Context, pause time.Duration) {
	o := s.offered
	asked := time.Now()
	select {
	case o.turn <- struct{}{}:
		defer func() { <-o.turn }()
	case <-ctx.Done():
		return
	}
	switch {
	case o.begun.IsZero():
	case !s.changes(), o.begun.After(asked):
		return
	case pause > 0 && time.Since(o.begun) < o.pause(pause):
		return
	}
	o.begun = time.Now()
	s.refreshTools(ctx)
	s.refreshResources(ctx)
	o.took.Store(int64(time.Since(o.begun)))
}

// pause is how long to wait after a look that took as long as the last one.
func (o *offered) pause(least time.Duration) time.Duration {
	return max(least, lookShare*time.Duration(o.took.Load()))
}

// refreshTools offers the tools there are now. Schemas do not change; the
// description of learn does, and whether it is offered at all.
func (s *Server) refreshTools(ctx context.Context) {
	before, now := s.offered.list(), s.cfg.Tools(ctx)
	if ctx.Err() != nil || reflect.DeepEqual(before, now) {
		return // A look that was cut off has not seen everything.
	}
	s.offered.tools.Store(&now)
	for _, tool := range before {
		if !slices.ContainsFunc(now, func(t contract.Tool) bool { return t.Name == tool.Name }) {
			s.sdk.RemoveTools(tool.Name)
		}
	}
	for _, tool := range now {
		if !slices.ContainsFunc(before, func(t contract.Tool) bool { return reflect.DeepEqual(t, tool) }) {
			s.addTool(tool)
		}
	}
}

// refreshResources has clients told when there are other resources than before.
func (s *Server) refreshResources(ctx context.Context) {
	if s.cfg.Knowledge == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, resourcesTime)
	defer cancel()
	now, err := s.resourceNames(ctx)
	if err != nil {
		return
	}
	changed := s.offered.counted && now != s.offered.resources
	s.offered.resources, s.offered.counted = now, true
	if changed {
		s.addSubjects() // This is what makes the SDK say so: it does not keep the list.
	}
}

// resourceNames returns a hash of the names of all subjects, in their order. What
// subjects say does not count, so no file has to be opened for it.
func (s *Server) resourceNames(ctx context.Context) (sum [sha256.Size]byte, err error) {
	base, err := s.cfg.Knowledge()
	if err != nil {
		return sum, nil //nolint:nilerr // then there are none; whoever asks for one is told why
	}
	hash := sha256.New()
	for _, topic := range base.CompleteTopic("") {
		names, err := base.CompleteSubject(ctx, topic, "")
		if err != nil {
			return sum, fmt.Errorf("looking for subjects: %w", err)
		}
		for _, name := range names {
			fmt.Fprintf(hash, "%s/%s\x00", topic, name)
		}
	}
	return [sha256.Size]byte(hash.Sum(nil)), nil
}

// watch looks for changes as long as a client is connected to c: when it asks for
// something, and from time to time where it has a session. Requests that listen
// look for themselves.
func (s *Server) watch(ctx context.Context, c *stream) {
	for {
		idle := time.After(s.offered.pause(idlePause))
		select {
		case <-ctx.Done():
			return
		case <-c.reading:
			return
		case <-c.asked:
			s.refresh(ctx, lookPause)
		case <-idle:
			if c.hasBegun() {
				s.refresh(ctx, lookPause)
			}
		}
	}
}
