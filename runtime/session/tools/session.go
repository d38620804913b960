package tools

import (
	"cmp"
	"context"
	"encoding/json"
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

// Settings are the settings of a session. Each of its conversations has them as [session.Context].Settings.
type Settings struct {
	Model     string   `json:"model,omitempty"`     // the name of a configured model; empty is the one that the configuration chooses
	Root      string   `json:"root"`                // absolute path of the workspace, whose files may be read; empty is none
	Dir       string   `json:"dir"`                 // absolute path that relative paths start from
	Outside   bool     `json:"outside,omitempty"`   // a program outside has the session, and takes the place of the root's model
	Recorded  string   `json:"recorded,omitempty"`  // id of the recorded conversation that the root continues, or that the program outside calls from
	Knowledge []string `json:"knowledge,omitempty"` // documents to learn besides the project's own, as TOPIC/GLOB
	Hidden    bool     `json:"hidden,omitempty"`    // recorded conversations are left out of lists and searches
	JP        bool     `json:"jp,omitempty"`        // the session is recorded in the JP workspace of Dir, not read from its log
}

// String returns the settings as JSON.
func (s Settings) String() string {
	data, _ := json.Marshal(s) // strings always have JSON
	return string(data)
}

// SettingsOf returns the settings of a conversation. Settings that cannot be read are zero.
func SettingsOf(c session.Context) (s Settings) {
	_ = json.Unmarshal([]byte(c.Settings), &s)
	return s
}

// Session is a session that this process has open.
type Session struct {
	*engine.Engine
	*Project
	id       string    // of the session and of its root
	recorder *recorder // nil unless the session is recorded in a JP workspace
}

// New describes a new session. Root, Dir and JP of its settings are those of the project.
type New struct {
	Settings
	ID      string         // of the session and of its root; empty is a new one
	Title   string         // of the root; it may be empty
	History []session.Item // earlier messages of the root
}

// Observer is called as [engine.Options].Observe.
type Observer func(session.Event, session.State)

// Begin starts a new session. observe may be nil. The error may be one of [configured.Choose] and [engine.Start].
func (p *Project) Begin(ctx context.Context, n New, observe Observer) (*Session, error) {
	start, err := p.startInput(ctx, n)
	if err != nil {
		return nil, err
	}
	s, o := p.newSession(start.Session, start.Context, observe)
	s.Engine, err = engine.Start(p.Logs, start, o)
	return s, err
}

// Resume opens a session and continues its work. observe may be nil. Errors are those of [engine.Resume].
func (p *Project) Resume(id string, observe Observer) (*Session, error) {
	summary, err := log.Summarize(p.Logs, id)
	if err != nil {
		return nil, err
	}
	s, o := p.newSession(id, summary.Context, observe)
	s.Engine, err = engine.Resume(p.Logs, id, o)
	return s, err
}

// startInput returns the input that starts a new session. It starts the MCP servers, whose tools the session keeps. If
// n.Outside is true, the session is that of a program, which takes the place of the root's model and can call tools.
func (p *Project) startInput(ctx context.Context, n New) (session.Start, error) {
	m, err := configured.Choose(p.Config, n.Model)
	if err != nil {
		return session.Start{}, err
	}
	settings := n.Settings
	settings.Root, settings.Dir, settings.JP = p.Settings.Root, p.Settings.Dir, p.Settings.JP
	if !n.Outside { // the session keeps the model of its root, even if the configuration chooses another one later
		settings.Model = m.Name
	}
	catalogue := p.catalogue(ctx)
	if ctx.Err() != nil { // the catalogue may be incomplete
		return session.Start{}, context.Cause(ctx)
	}
	const maxSamples = 2000 // requests to models for one input: models that hand work to each other could go on for days
	id := cmp.Or(n.ID, uuid.NewString())
	limits := p.Config.Session
	start := session.Start{
		Session: id, Root: id, History: n.History,
		Config: session.Config{
			MaxInterruptChainDepth: limits.MaxInterruptChainDepth, MaxInterruptsPerTurn: limits.MaxInterruptsPerTurn,
			MaxConversations: limits.MaxConversations, MaxSamplesPerSubmission: maxSamples, Catalogue: catalogue,
		},
		Context: session.Context{Title: n.Title, Settings: settings.String()},
	}
	start.Context.MCP = slices.Sorted(maps.Keys(catalogue))
	start.Context.Internal = session.InternalTools{session.ConvTools: m.Tools() || n.Outside, session.SearchTool: m.Value.WebSearch}
	if m.Tools() { // the prompt of a family is about its tools
		where := contract.Context{Dir: settings.Dir, ConversationID: id}
		if text := p.registry.Prompt(ctx, where); text != "" {
			start.Context.Base = &text
		}
	}
	return start, nil
}

// newSession returns a session without engine, and the engine's options. root is the context of the root conversation.
func (p *Project) newSession(id string, root session.Context, observe Observer) (*Session, engine.Options) {
	s := &Session{Project: p, id: id}
	if settings := SettingsOf(root); settings.JP {
		w, err := jp.Open(jp.Options{Dir: settings.Dir, Getenv: p.host.Getenv})
		if err == nil {
			s.recorder = newRecorder(id, w, p)
		} else {
			p.host.WarnOnce("the session cannot be recorded: " + err.Error())
		}
	}
	return s, engine.Options{
		Model: p.Model, Tools: s, Now: p.host.Now,
		Observe: func(e session.Event, state session.State) {
			if observe != nil {
				observe(e, state)
			}
			if s.recorder != nil {
				s.recorder.observe(e, state)
			}
		},
	}
}

// Close records the rest of the session and closes its engine. The error may say that a record was removed.
func (s *Session) Close() error {
	var removed error
	if s.recorder != nil && s.Err() == nil { // the engine still runs, so no other process has the session open
		removed = s.recorder.finish(s.State())
	}
	return errors.Join(s.Engine.Close(), removed)
}

// recordedAs returns the id under which a conversation of the session, or else its nearest ancestor, is recorded.
func (s *Session) recordedAs(conversation string) string {
	if s.recorder == nil {
		return string(sessions.ID(s.id, s.id, conversation))
	}
	return string(s.recorder.recordedAs(conversation))
}
