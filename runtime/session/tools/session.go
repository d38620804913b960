package tools

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/model/configured"
	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/session/engine"
	"github.com/convtools/convtools/runtime/session/log"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/store/sessions"
)

// Session is a session that this process has open.
type Session struct {
	*engine.Engine
	*Project
	id       string    // of the session and of its root
	recorder *recorder // nil unless the session is recorded in a JP workspace
}

// New describes a new session. Root, Dir and JP of its settings are those of the project; an empty Model is the one
// that the configuration chooses.
type New struct {
	Settings
	ID      string         // of the session and of its root; empty is a new one
	Title   string         // of the root; it may be empty
	History []session.Item // earlier messages of the root
}

// Observer is called as [engine.Options].Observe.
type Observer func(session.Event, session.State)

// Begin starts a session. observe may be nil. Errors are those of [configured.Choose] and [engine.Start].
func (p *Project) Begin(ctx context.Context, n New, observe Observer) (*Session, error) {
	start, err := p.start(ctx, n)
	if err != nil {
		return nil, err
	}
	return p.open(start.Session, start.Context, observe, func(o engine.Options) (*engine.Engine, error) {
		return engine.Start(p.Logs, start, o)
	})
}

// Resume opens a session and continues its unfinished work. observe may be nil. Errors are those of [log.Summarize]
// and [engine.Resume].
func (p *Project) Resume(id string, observe Observer) (*Session, error) {
	summary, err := log.Summarize(p.Logs, id)
	if err != nil {
		return nil, err
	}
	return p.open(id, summary.Context, observe, func(o engine.Options) (*engine.Engine, error) {
		return engine.Resume(p.Logs, id, o)
	})
}

// maxSamples limits the requests to models for one input. Otherwise models that hand work to each other could go on
// for days.
const maxSamples = 2000

// start returns the input that starts a new session.
func (p *Project) start(ctx context.Context, n New) (session.Start, error) {
	m, err := configured.Choose(p.Config, n.Model)
	if err != nil {
		return session.Start{}, err
	}
	settings := n.Settings
	settings.Root, settings.Dir, settings.JP = p.Settings.Root, p.Settings.Dir, p.Settings.JP
	if !n.Outside { // the model stays, even if the configuration chooses another later
		settings.Model = m.Name
	}
	catalogue := p.catalogue(ctx)
	if ctx.Err() != nil { // the catalogue may be incomplete
		return session.Start{}, context.Cause(ctx)
	}
	id := cmp.Or(n.ID, uuid.NewString())
	limits := p.Config.Session
	start := session.Start{
		Session: id, Root: id, History: n.History,
		Config: session.Config{
			MaxInterruptChainDepth:  limits.MaxInterruptChainDepth,
			MaxInterruptsPerTurn:    limits.MaxInterruptsPerTurn,
			MaxConversations:        limits.MaxConversations,
			MaxSamplesPerSubmission: maxSamples,
			Catalogue:               catalogue,
		},
		Context: session.Context{Title: n.Title, Settings: settings.String()},
	}
	start.Context.MCP = slices.Sorted(maps.Keys(catalogue))
	start.Context.Internal = session.InternalTools{
		session.ConvTools: m.Tools() || n.Outside, session.SearchTool: m.Is.WebSearch,
	}
	if m.Tools() { // the prompt of a family is about its tools
		where := contract.Context{Dir: settings.Dir, ConversationID: id}
		if text := p.registry.Prompt(ctx, where); text != "" {
			start.Context.Base = &text
		}
	}
	return start, nil
}

// open opens a session and its recorder.
func (p *Project) open(id string, root session.Context, observe Observer, open func(engine.Options) (*engine.Engine, error)) (*Session, error) {
	s := &Session{Project: p, id: id}
	if settings := SettingsOf(root); settings.JP {
		w, err := jp.Open(jp.Options{Dir: settings.Dir, Getenv: p.host.Getenv})
		if err == nil {
			s.recorder = newRecorder(id, w, p)
		} else {
			p.host.WarnOnce("the session cannot be recorded: " + err.Error())
		}
	}
	var err error
	s.Engine, err = open(engine.Options{
		Model: p.Model, Tools: s, Now: p.host.Now, NewID: uuid.NewString,
		Observe: func(e session.Event, state session.State) {
			if observe != nil {
				observe(e, state)
			}
			if s.recorder != nil {
				s.recorder.observe(e, state)
			}
		},
	})
	return s, err
}

// Close records what is not recorded yet and closes the engine. The error may say that a recorded conversation was
// removed.
func (s *Session) Close() error {
	var removed error
	if s.recorder != nil && s.Err() == nil { // otherwise another process may have the session open
		removed = s.recorder.finish(s.State())
	}
	return errors.Join(s.Engine.Close(), removed)
}

// recordedAs returns the id under which a conversation of the session is recorded.
func (s *Session) recordedAs(conversation string) string {
	if s.recorder == nil {
		return string(sessions.ID(s.id, s.id, conversation))
	}
	return string(s.recorder.recordedAs(conversation))
}
