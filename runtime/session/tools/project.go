package tools

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/convtools/convtools/runtime/base/workspace"
	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/model/configured"
	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/store/sessions"
	"github.com/convtools/convtools/runtime/toolset"
)

// Project is what the sessions of a directory share. It is safe for concurrent use.
type Project struct {
	Config    *config.Config
	Logs      string   // the directory of the logs; it may not exist
	Settings  Settings // of new sessions, without a model
	Problems  []error  // of the tables of models, servers and trust
	Untrusted []error  // for each server that is left out because the user does not trust its project
	Named     string   // the model that the user has named to this process, which needs no trust

	host      *toolset.Host
	registry  *toolset.Registry // of the tools of other families
	servers   *servers
	workspace *jp.Workspace // where new sessions are recorded; nil outside of JP's workspaces

	mu     sync.Mutex
	models map[string]model.Model // by name
}

// Open returns the project of a directory. dir is its path, or the id of a workspace, or empty for the working
// directory. Open reads the configuration and starts nothing. The error may be a [*config.Error].
func Open(host *toolset.Host, dir string, registry *toolset.Registry) (*Project, error) {
	logs, err := LogDir(host.Getenv)
	if err != nil {
		return nil, err
	}
	if dir, err = locate(registry, dir); err != nil {
		return nil, err
	}
	c, err := readConfig(dir, host.Getenv)
	if err != nil {
		return nil, err
	}
	p := &Project{
		Config: c, Logs: logs, Settings: Settings{Root: dir, Dir: dir}, Problems: problems(c),
		host: host, registry: registry, models: map[string]model.Model{},
	}
	if root, ok := workspace.Find(dir); ok {
		p.Settings.Root = root
	} else if home, err := filepath.Rel(dir, config.Home(host.Getenv)); err == nil && filepath.IsLocal(home) {
		p.Settings.Root = "" // models may read no files: dir is the user's home directory, or contains it
	}
	p.workspace, _ = jp.Open(jp.Options{Dir: dir, Getenv: host.Getenv}) // nil if dir is in no workspace of JP
	p.Settings.JP = p.workspace != nil
	trusted, untrusted := serversOf(c)
	p.Untrusted = untrusted
	program := mcp.Implementation{Name: host.Name, Version: host.Version}
	p.servers = newServers(trusted, program, p.root(), host.WarnOnce)
	return p, nil
}

// root returns the root of the workspace, or the directory if it is in no workspace.
func (p *Project) root() string { return cmp.Or(p.Settings.Root, p.Settings.Dir) }

// Warn warns of models and servers that cannot be used.
func (p *Project) Warn() {
	for _, err := range slices.Concat(p.Untrusted, p.Problems) {
		p.host.WarnOnce(err.Error())
	}
}

// Close stops the MCP servers.
func (p *Project) Close() { p.servers.Close() }

// locate returns the absolute path of a directory. A dir that does not exist may be the id of a workspace.
func locate(r *toolset.Registry, dir string) (string, error) {
	if _, err := os.Stat(cmp.Or(dir, ".")); err != nil {
		if root, err := r.Project(dir); err == nil {
			dir = root
		}
	}
	return filepath.Abs(dir)
}

// LogDir returns the directory of the logs. It is an error if the environment names no home directory.
func LogDir(getenv func(string) string) (string, error) {
	if dir := sessions.Home(getenv); dir != "" {
		return dir, nil
	}
	return "", errors.New("no directory for sessions: set HOME, or XDG_DATA_HOME to the path of a directory")
}

// Model returns the model of a conversation, and opens it the first time. The model needs the user's trust, unless it
// is p.Named, which the user has named to this process. The error is a [*model.Error], or that of [configured.Choose].
func (p *Project) Model(_ context.Context, c *session.Conversation) (model.Model, error) {
	if isOutside(c) {
		return nil, &model.Error{Code: model.CodeConfiguration, Message: "this conversation belongs to another program and has no model"}
	}
	name := SettingsOf(c.Context).Model
	p.mu.Lock()
	defer p.mu.Unlock()
	if m, ok := p.models[name]; ok {
		return m, nil
	}
	chosen, err := configured.Choose(p.Config, name)
	if err == nil && name != p.Named { // Choose trusts every name that it is given, but this name is from the session
		err = chosen.CheckTrust()
	}
	if err != nil {
		return nil, err
	}
	m, err := chosen.Open(p.host.Getenv)
	if err == nil {
		p.models[name] = m
	}
	return m, err
}

// isOutside reports whether a conversation is the root of a session of another program.
func isOutside(c *session.Conversation) bool { return c.Parent == "" && SettingsOf(c.Context).Outside }
