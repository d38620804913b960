// Package tools is the conv tools, for the conversations of a session and, as a family, for programs outside of it.
//
// A conversation may call the conv tools, the tools of other families, and those of MCP servers. [Project] connects
// these with the models of a directory and with the logs. Conversations in a JP workspace are recorded there.
//
// Each program outside (an MCP client, convtools call, JP) has a session in a project. It belongs to the calling
// conversation if the host names that, or else to the program by its name. The program takes the place of the root's
// model. The session is open only while a call, or work that it left running, needs it: by one process at a time.
//
// The package never decides what happens in a session, and reads no file outside of the workspace for a model.
package tools

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/model/configured"
	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/session/log"
	"github.com/convtools/convtools/runtime/toolset"
)

// Family returns the conv tools for programs outside of sessions. Conversations may use the tools of other families.
func Family(host *toolset.Host, others ...toolset.Family) toolset.Family {
	registry, _ := toolset.NewRegistry(others...) // the program makes a registry of all families, and reports the same error
	f := &family{host: host, others: registry, projects: map[string]*Project{}, clients: map[string]*client{}}
	return toolset.Family{
		Name:      "conv",
		Declared:  declared,
		Offered:   f.offered,
		Call:      f.call,
		Checks:    f.checks,
		Variables: []string{"XDG_DATA_HOME"},
		Close:     f.close,
		Pages:     []toolset.Page{f.page()},
	}
}

type family struct {
	host   *toolset.Host
	others *toolset.Registry

	mu       sync.Mutex
	projects map[string]*Project // by directory
	clients  map[string]*client  // by session
}

// project returns the project of a directory and the model of its new sessions. If the project cannot be used at all,
// it is nil, and the error says why. Otherwise an error says why there is no model.
func (f *family) project(dir string) (*Project, configured.Model, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.projects[dir]
	if p == nil {
		var err error
		if p, err = Open(f.host, dir, f.others); err != nil {
			return nil, configured.Model{}, err
		}
		f.projects[dir] = p
	}
	m, err := configured.Choose(p.Config, "")
	return p, m, err
}

// offered returns the conv tools, or none if new sessions have no model.
func (f *family) offered(context.Context) []contract.Tool {
	if _, _, err := f.project(f.host.Dir); err != nil {
		return nil
	}
	return declared()
}

// clientOf returns the client for the program that makes a call. The error is the refusal of a project without a model.
func (f *family) clientOf(where contract.Context) (*client, error) {
	p, _, err := f.project(cmp.Or(where.Dir, f.host.Dir))
	if err != nil {
		return nil, &session.Refusal{Code: session.CodeUnavailable, Reason: "no conversation can be held here: " + err.Error()}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	id := sessionID(p.root(), where)
	if f.clients[id] == nil {
		p.Warn()
		f.clients[id] = newClient(p, id, where)
	}
	return f.clients[id], nil
}

// call answers a call of a program outside. An error that is not for models becomes a warning and a refusal.
func (f *family) call(ctx context.Context, call contract.Call) (answer string, err error) {
	c, err := f.clientOf(call.Context)
	if err == nil {
		answer, err = c.answer(ctx, call)
	}
	_, isForModel := errors.AsType[*contract.Error](err)
	if err == nil || isForModel || ctx.Err() != nil {
		return answer, err
	}
	if refusal, isRefused := errors.AsType[*session.Refusal](err); isRefused {
		return "", contract.Fixable(refusal.Content())
	}
	refusal := &session.Refusal{Code: session.CodeFailed, Reason: "the session cannot be used at the moment; a person has to look at the problem"}
	if _, isBusy := errors.AsType[*log.BusyError](err); isBusy {
		refusal = &session.Refusal{Code: session.CodeUnavailable, Reason: "another process is working in this session; call again when it is done"}
	}
	f.host.WarnOnce(err.Error())
	return "", &contract.Error{Message: refusal.Content(), Detail: err.Error(), Transient: true, Err: err}
}

// close stops the work of all sessions, and all MCP servers. The work continues when its session is used again.
func (f *family) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	var closing sync.WaitGroup
	for _, c := range f.clients {
		closing.Go(c.close)
	}
	closing.Wait()
	for _, p := range f.projects {
		p.Close()
	}
}

// checks reports which model new sessions have, and wrong or untrusted tables. Having no model is not a problem.
func (f *family) checks(context.Context) (checks []toolset.Check) {
	add := func(status toolset.Status, detail, fix string) {
		checks = append(checks, toolset.Check{Name: "models", Status: status, Detail: detail, Fix: fix})
	}
	p, m, err := f.project(f.host.Dir)
	if p == nil {
		add(toolset.Problem, err.Error(), "correct the file")
		return checks
	}
	switch n := len(p.Config.Models); {
	case n == 0:
		add(toolset.Off, "none is configured, so the conv tools are not offered", "")
	case err != nil:
		add(toolset.Problem, "the conv tools are not offered: "+err.Error(), `correct it, or name one with model = "NAME" in [session]`)
	default:
		add(toolset.OK, text.Count(n, "model", "models")+"; "+m.Name+" is used", "")
	}
	for _, problem := range p.Problems {
		add(toolset.Problem, problem.Error(), "correct the table")
	}
	for _, server := range p.Untrusted {
		add(toolset.Warning, server.Error(), "")
	}
	return checks
}
