package tools

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/convtools/convtools/runtime/base/workspace"
	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/model/configured"
	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/session/engine"
	"github.com/convtools/convtools/runtime/session/log"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/store/sessions"
	"github.com/convtools/convtools/runtime/toolset"
)

// Options is what sessions depend on.
type Options struct {
	Host     *toolset.Host
	Dir      string            // where to look for the project; empty is the host's directory
	Registry *toolset.Registry // has the tools besides those of sessions
	Warn     func(string)      // gets warnings, a sentence each; may be nil
}

// Sessions is what the sessions of a directory have. It is safe for concurrent use.
type Sessions struct {
	Config *config.Config
	Dir    string   // of the logs; it may not exist yet
	Where  Settings // where new sessions work, without a model
	// Problems is why models and servers that are configured cannot be used, and LeftOut which servers of the project the
	// user does not trust.
	Problems, LeftOut []error

	options   Options
	now       func() time.Time
	servers   *Servers
	workspace *jp.Workspace // where new sessions are recorded; nil if they are in their logs alone

	mu     sync.Mutex
	models map[string]model.Model // by name, opened
	named  string                 // see [Sessions.Named]
}

// Open reads the configuration. Nothing is started. The error may be a [*config.Error].
func Open(o Options) (*Sessions, error) {
	logs, err := LogDir(o.Host.Getenv)
	if err != nil {
		return nil, err
	}
	dir, err := Locate(o.Registry, cmp.Or(o.Dir, o.Host.Dir))
	if err != nil {
		return nil, err
	}
	read, err := readConfig(dir, o.Host.Getenv)
	if err != nil {
		return nil, err
	}
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	s := &Sessions{options: o, now: clock(o.Host), Config: read, Dir: logs, Where: Settings{Root: dir, Dir: dir}, models: map[string]model.Model{}}
	if s.workspace, err = jp.Open(jp.Options{Dir: dir, Getenv: o.Host.Getenv}); err != nil {
		s.workspace = nil // there is none
	}
	if root, ok := workspace.Find(dir); ok {
		s.Where.Root = root
	} else if below, err := filepath.Rel(dir, config.Home(o.Host.Getenv)); err == nil && filepath.IsLocal(below) {
		s.Where.Root = "" // all that a person has is no workspace
	}
	servers, leftOut := serversOf(read)
	s.Problems, s.LeftOut = problems(read), leftOut
	s.servers = NewServers(servers, ServerOptions{Name: o.Host.Name, Version: o.Host.Version, Dir: cmp.Or(s.Where.Root, s.Where.Dir)})
	return s, nil
}

// Warn says which of what is configured cannot be used.
func (s *Sessions) Warn() {
	for _, err := range slices.Concat(s.LeftOut, s.Problems) {
		s.options.Warn(err.Error())
	}
}

// clock returns the clock of a process.
func clock(h *toolset.Host) func() time.Time {
	if h.Now == nil {
		return time.Now
	}
	return h.Now
}

// Locate returns the path of the directory that a host names, which may be the id of a workspace that a family knows.
// An empty dir is the working directory.
func Locate(r *toolset.Registry, dir string) (string, error) {
	if _, err := os.Stat(cmp.Or(dir, ".")); err != nil {
		if root, err := r.Project(dir); err == nil {
			dir = root
		}
	}
	return filepath.Abs(dir)
}

// LogDir returns the directory of the logs, in that for the data of the user. The error is that the environment names no
// home directory.
func LogDir(getenv func(string) string) (string, error) {
	if dir := sessions.Home(getenv); dir != "" {
		return dir, nil
	}
	return "", errors.New("where sessions are kept is not known: set HOME, or XDG_DATA_HOME to the path of a directory")
}

// New is what a new session is to be. Of the settings, Model may be empty, for the model that the configuration chooses, and
// Root, Dir and JP are those of here.
type New struct {
	Settings
	Title   string         // of the root conversation; it may be empty
	History []session.Item // what was said in the recorded conversation as far as the root's model is to know it
	ID      string         // of the session and of its root; empty for a new one
}

// maxSamples is how many requests to models one input may cost in all. Without it, models that hand work to each other
// forever would take days to reach their own limits.
const maxSamples = 2000

// start returns the input that starts a new session.
func (s *Sessions) start(ctx context.Context, n New) (session.Start, error) {
	m, err := configured.Choose(s.Config, n.Model)
	if err != nil {
		return session.Start{}, err
	}
	s.Named(n.Model)
	settings := n.Settings
	settings.Root, settings.Dir, settings.JP = s.Where.Root, s.Where.Dir, s.workspace != nil
	if !n.Outside { // which lasts, whatever becomes of the configuration
		settings.Model = m.Name
	}
	catalogue := s.catalogue(ctx)
	if ctx.Err() != nil { // which servers have tools is not known
		return session.Start{}, context.Cause(ctx)
	}
	id := cmp.Or(n.ID, uuid.NewString())
	limits := s.Config.Session
	in := session.Start{
		Session: id, Root: id, // a person has one to remember
		History: n.History,
		Config: session.Config{
			MaxInterruptChainDepth: limits.MaxInterruptChainDepth, MaxInterruptsPerTurn: limits.MaxInterruptsPerTurn,
			MaxConversations: limits.MaxConversations, MaxSamplesPerSubmission: maxSamples, Catalogue: catalogue,
		},
		Context: session.Context{
			Title: n.Title, Settings: settings.String(),
			Capabilities: session.Capabilities{
				MCP: slices.Sorted(maps.Keys(catalogue)), Internal: session.InternalTools{session.ConvTools: m.Tools() || n.Outside, session.SearchTool: m.Is.WebSearch},
			},
		},
	}
	if m.Tools() { // what families say of their tools is of no use to others
		if text := s.options.Registry.Prompt(ctx, contract.Context{Dir: settings.Dir, ConversationID: id}); text != "" {
			in.Context.Base = &text
		}
	}
	return in, nil
}

// Named has a model used that the user has named to this process, whatever the configuration makes of the name by then.
// Of a project that the user does not trust, no other model does what needs trust, also where a session has had it before.
func (s *Sessions) Named(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.named = cmp.Or(name, s.named)
}

// Model returns the model of a conversation. The error is a [*model.Error], or that of [configured.Choose].
func (s *Sessions) Model(_ context.Context, c *session.Conversation) (model.Model, error) {
	if isOutside(c) {
		return nil, &model.Error{Code: model.CodeConfiguration, Message: "a program outside has the place of the model in this conversation"}
	}
	name := SettingsOf(c.Context).Model
	s.mu.Lock()
	defer s.mu.Unlock()
	if m, ok := s.models[name]; ok {
		return m, nil
	}
	chosen, err := configured.Choose(s.Config, name)
	if err == nil && name != s.named {
		err = chosen.Trusted()
	}
	if err != nil {
		return nil, err
	}
	m, err := chosen.Open(s.options.Host.Getenv)
	if err == nil {
		s.models[name] = m
	}
	return m, err
}

// isOutside reports whether a program outside has the place of a conversation's model. That program records what is said
// there.
func isOutside(c *session.Conversation) bool { return c.Parent == "" && SettingsOf(c.Context).Outside }

// Close ends the MCP servers that were started.
func (s *Sessions) Close() { s.servers.Close() }

// Session is a session that this process has open. What is said in it is recorded where its settings say.
type Session struct {
	*engine.Engine
	*Sessions
	id       string    // and that of the root
	recorder *recorder // nil where the log is all
}

// Begin starts a new session. observe is called as [engine.Options.Observe] says. Errors are those of
// [configured.Choose], where no model is there for it, and [engine.Start].
func (s *Sessions) Begin(ctx context.Context, n New, observe func(session.Event, session.State)) (*Session, error) {
	start, err := s.start(ctx, n)
	if err != nil {
		return nil, err
	}
	return s.session(start.Session, start.Context, observe, func(o engine.Options) (*engine.Engine, error) {
		return engine.Start(s.Dir, start, o)
	})
}

// Resume opens a session, which goes on with what was running. Errors are those of [log.Summarize] and
// [engine.Resume].
func (s *Sessions) Resume(id string, observe func(session.Event, session.State)) (*Session, error) {
	summary, err := log.Summarize(s.Dir, id)
	if err != nil {
		return nil, err
	}
	return s.session(id, summary.Context, observe, func(o engine.Options) (*engine.Engine, error) {
		return engine.Resume(s.Dir, id, o)
	})
}

// session opens a session, with what records it.
func (s *Sessions) session(id string, root session.Context, observe func(session.Event, session.State), open func(engine.Options) (*engine.Engine, error)) (*Session, error) {
	opened := &Session{Sessions: s, id: id}
	settings := SettingsOf(root)
	if settings.JP {
		w, err := jp.Open(jp.Options{Dir: settings.Dir, Getenv: s.options.Host.Getenv})
		if err != nil {
			s.options.Warn("what is said cannot be recorded: " + err.Error())
		} else {
			opened.recorder = newRecorder(id, w, s.now)
			opened.recorder.model, opened.recorder.warn = s.jpModel, s.options.Warn
		}
	}
	var err error
	opened.Engine, err = open(engine.Options{Model: s.Model, Tools: opened, Now: s.now, NewID: uuid.NewString, Observe: func(e session.Event, state session.State) {
		if observe != nil {
			observe(e, state)
		}
		if opened.recorder != nil {
			opened.recorder.observe(e, state)
		}
	}})
	return opened, err
}

// Close records what is not recorded yet, and closes the session as [engine.Engine.Close] does. An error may be why
// something is not recorded.
func (o *Session) Close() error {
	var removed error
	if o.recorder != nil && o.Err() == nil { // otherwise another process may have it open
		removed = o.recorder.finish(o.State())
	}
	return errors.Join(o.Engine.Close(), removed)
}

// recordedAs returns the id under which a conversation of the session is recorded.
func (o *Session) recordedAs(conversation string) string {
	if o.recorder == nil {
		return string(sessions.ID(o.id, o.id, conversation))
	}
	return string(o.recorder.recordedAs(conversation))
}
