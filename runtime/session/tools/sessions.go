package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/sessionconfig"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/store/sessions"
	"github.com/convtools/convtools/runtime/toolset"
)

// Options is what sessions depend on.
type Options struct {
	// Host is the process.
	Host *toolset.Host
	// Dir is where the project is looked for; empty stands for that of the host.
	Dir string
	// Registry has the tools besides those of sessions.
	Registry *toolset.Registry
	// Warn gets what a person should know, a sentence. It may be nil.
	Warn func(string)
}

// Sessions is what sessions have. It is safe for concurrent use.
type Sessions struct {
	Config sessionconfig.Config // what is configured
	Dir    string               // of the logs; it may not exist yet
	Where  Settings             // where new sessions work, without a model

	options Options
	now     func() time.Time
	servers *Servers
	// workspace is where new sessions are recorded; nil stands for nowhere but in their logs.
	workspace *jp.Workspace

	mu     sync.Mutex
	models map[string]model.Model // by name, opened
	named  string                 // see [Sessions.Named]
}

// Open reads the configuration. Nothing is started. The errors are those of [sessionconfig.Load].
func Open(o Options) (*Sessions, error) {
	logs, err := LogDir(o.Host.Getenv)
	if err != nil {
		return nil, err
	}
	dir, err := Locate(o.Registry, cmp.Or(o.Dir, o.Host.Dir))
	if err != nil {
		return nil, err
	}
	configured, err := sessionconfig.Load(dir, o.Host.Getenv)
	if err != nil {
		return nil, err
	}
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	s := &Sessions{
		options: o, now: clock(o.Host), Config: configured, Dir: logs, Where: Settings{Root: dir, Dir: dir}, models: map[string]model.Model{},
	}
	if s.workspace, err = jp.Open(jp.Options{Dir: dir, Getenv: o.Host.Getenv}); err != nil {
		s.workspace = nil // there is none
	}
	if root, ok := workspace.Find(dir); ok {
		s.Where.Root = root
	} else if holds(dir, config.Home(o.Host.Getenv)) {
		s.Where.Root = "" // all that a person has is no workspace
	}
	for _, out := range configured.LeftOut {
		o.Warn(out.Error())
	}
	for _, wrong := range configured.Wrong {
		o.Warn(wrong.Error())
	}
	s.servers = NewServers(configured.Servers, ServerOptions{Name: o.Host.Name, Version: o.Host.Version, Dir: cmp.Or(s.Where.Root, s.Where.Dir)})
	return s, nil
}

// clock returns the clock of a process.
func clock(h *toolset.Host) func() time.Time {
	if h.Now == nil {
		return time.Now
	}
	return h.Now
}

// Locate returns the path of the directory that a host names, which may be the id of a workspace that a family knows.
// Empty stands for the working directory.
func Locate(r *toolset.Registry, dir string) (string, error) {
	if _, err := os.Stat(cmp.Or(dir, ".")); err != nil {
		if root, err := r.Project(dir); err == nil {
			dir = root
		}
	}
	path, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("finding the working directory: %w", err)
	}
	return path, nil
}

// holds reports whether a directory is another one, or has it somewhere below.
func holds(dir, other string) bool {
	below, err := filepath.Rel(dir, other)
	return err == nil && filepath.IsLocal(below)
}

// LogDir returns the directory of the logs, in that for the data of the user. The error is
// that the environment names no home directory.
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
	ID      string         // of the session and of its root; empty stands for a new one
}

// maxSamples is how many requests to models one input may cost in all: models that hand work to each other for ever would
// else take days to come to the limits of each.
const maxSamples = 2000

// start returns the input that starts a new session.
func (s *Sessions) start(ctx context.Context, n New) (session.Start, error) {
	m, err := s.Config.Choose(n.Model)
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
	in := session.Start{
		Session: id, Root: id, // a person has one to remember
		History: n.History,
		Config: session.Config{
			MaxInterruptChainDepth:  s.Config.Session.MaxInterruptChainDepth,
			MaxInterruptsPerTurn:    s.Config.Session.MaxInterruptsPerTurn,
			MaxConversations:        s.Config.Session.MaxConversations,
			MaxSamplesPerSubmission: maxSamples,
			Catalogue:               catalogue,
		},
		Context: session.Context{
			Title: n.Title, Settings: settings.String(),
			Capabilities: session.Capabilities{
				MCP: slices.Sorted(maps.Keys(catalogue)), Internal: session.InternalTools{session.ConvTools: m.Tools() || n.Outside, session.SearchTool: m.WebSearch()},
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

// Model returns the model of a conversation. The error is a
// [*model.Error], a [*sessionconfig.NoModelError] for a model that is not configured any more, or that a project is not
// trusted.
func (s *Sessions) Model(_ context.Context, c *session.Conversation) (model.Model, error) {
	if isOutside(c) {
		return nil, &model.Error{Code: model.CodeConfiguration, Message: "a program outside has the place of the model in this conversation"}
	}
	settings, err := ParseSettings(c.Settings)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if m, ok := s.models[settings.Model]; ok {
		return m, nil
	}
	chosen, err := s.Config.Choose(settings.Model)
	if err == nil && settings.Model != s.named {
		chosen, err = chosen.Trusted()
	}
	if err != nil {
		return nil, err
	}
	m, err := chosen.Open()
	if err != nil {
		return nil, err
	}
	s.models[settings.Model] = m
	return m, nil
}

// Close ends the MCP servers that were started.
func (s *Sessions) Close() {
	s.servers.Close()
}
