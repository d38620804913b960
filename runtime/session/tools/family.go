// Package tools is the conv tools: what the conversations of a session may call, as an engine takes it, and the same for
// programs outside of sessions, as a family.
//
// A conversation may call conv.create, conv.send, conv.list, conv.history and conv.destroy, the tools of this program's
// other families, and those of MCP servers. [Sessions] puts these together with the models that are configured for a
// directory and the place of the logs.
//
// Programs outside (MCP clients, convtools call, JP) each have a session of their own in a project, in which they have
// the place of the root's model: their calls of conv.create and conv.send are those of the root. A session is that of the
// conversation which calls, where the host says which that is, and else that of the program, by the name that it gives
// itself. It is in the log like any other, so it is there again after a restart. So that what programs leave behind does
// not add up until none can begin a conversation, a new one takes the place of one that no program has used since this
// process began, where the session is full. A session is open only while a call, or what a call has left running, needs
// it: several processes of one program share it, one at a time.
//
// What is said in a JP workspace is recorded there.
//
// The package must never decide what happens in a session, word what the core of sessions answers, other than what only
// callers outside can get, read a file outside of the workspace for a model, or run or ask anything before a session
// wants it.
package tools

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/model/configured"
	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/session/log"
	"github.com/convtools/convtools/runtime/toolset"
)

// Family returns the conv tools for programs outside. The conversations that they begin may use the tools of the other
// families.
func Family(host *toolset.Host, others ...toolset.Family) toolset.Family {
	registry, err := toolset.NewRegistry(others...)
	if err != nil { // the registry of all families reports the same error
		registry, _ = toolset.NewRegistry()
	}
	f := &family{host: host, others: registry, sessions: map[string]*Sessions{}, clients: map[string]*client{}}
	f.began = clock(host)().Truncate(time.Millisecond) // as sessions count
	return toolset.Family{
		Name:      "conv",
		Declared:  declared,
		Offered:   f.offered,
		Call:      f.call,
		Checks:    f.checks,
		Variables: []string{"XDG_DATA_HOME"},
		Close:     f.close,
	}
}

// family answers for all programs that call this one.
type family struct {
	host   *toolset.Host
	others *toolset.Registry
	began  time.Time

	mu       sync.Mutex
	sessions map[string]*Sessions // by the directory
	clients  map[string]*client   // by the id of the session
	closed   bool
}

// in returns what sessions have in a directory, which is found out once. f.mu is held.
func (f *family) in(dir string) (*Sessions, error) {
	if s := f.sessions[dir]; s != nil {
		return s, nil
	}
	s, err := Open(Options{Host: f.host, Dir: dir, Registry: f.others, Warn: f.host.WarnOnce})
	if err == nil {
		f.sessions[dir] = s
	}
	return s, err
}

// here returns what sessions have in the directory of the host, and the model that applies. The error is why there is
// none, with no sessions where these cannot be used at all.
func (f *family) here() (*Sessions, configured.Model, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s, err := f.in(f.host.Dir)
	if err != nil {
		return nil, configured.Model{}, err
	}
	m, err := configured.Choose(s.Config, "")
	return s, m, err
}

// offered returns the tools where a conversation can have a model.
func (f *family) offered(context.Context) []contract.Tool {
	if _, _, err := f.here(); err != nil {
		return nil
	}
	return declared()
}

// client returns the program that a call comes from.
func (f *family) client(where contract.Context) (*client, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	sessions, err := f.in(cmp.Or(where.Dir, f.host.Dir))
	if err == nil {
		_, err = configured.Choose(sessions.Config, "")
	}
	if err != nil {
		return nil, refused(&session.Refusal{Code: session.CodeUnavailable, Reason: "no conversation can be held here: " + err.Error()})
	}
	id := sessionOf(cmp.Or(sessions.Where.Root, sessions.Where.Dir), where)
	c := f.clients[id]
	if c == nil {
		sessions.Warn()
		c = &client{family: f, sessions: sessions, id: id, title: titleOf(where), from: where.ConversationID, closed: f.closed}
		f.clients[id] = c
	}
	return c, nil
}

// call answers a call of an outside program.
func (f *family) call(ctx context.Context, call contract.Call) (string, error) {
	for _, tool := range declared() {
		if tool.AnswersTo(call.Tool) {
			call.Tool = tool.Name
		}
	}
	answer, err := f.answer(ctx, call)
	var worded *contract.Error
	if err == nil || errors.As(err, &worded) || ctx.Err() != nil {
		return answer, err
	}
	refusal := session.Refusal{Code: session.CodeFailed, Reason: "the session cannot be used at the moment; what is wrong is for a person to see"}
	var busy *log.BusyError
	if errors.As(err, &busy) {
		refusal = session.Refusal{Code: session.CodeUnavailable, Reason: "another process is working in this session; call again when it is done"}
	}
	f.host.WarnOnce(err.Error())
	return "", &contract.Error{Message: refusal.Content(), Detail: err.Error(), Transient: true, Err: err}
}

func (f *family) answer(ctx context.Context, call contract.Call) (string, error) {
	c, err := f.client(call.Context)
	if err != nil {
		return "", err
	}
	asked, refusal := c.sessions.decode(c.sessions.Where, call.Tool, call.Arguments)
	if refusal != nil {
		return "", refused(refusal)
	}
	item := session.Item{Item: model.Item{Name: call.Tool, Wire: call.Tool, Arguments: string(call.Arguments)}, Request: asked.request}
	if call.Tool == session.ConvList || call.Tool == session.ConvHistory {
		return c.read(ctx, item)
	}
	waiting, cancel := waitContext(ctx, call.Context, asked.wait)
	defer cancel()
	s, done, err := c.turn(ctx, waiting)
	if err != nil {
		return "", err
	}
	defer done()
	switch {
	case asked.request.Destroy != nil:
		return destroy(ctx, s, asked.request.Destroy.ConversationID)
	case asked.task != "":
		return answer(waiting, s, asked.task)
	}
	return c.converse(ctx, waiting, s, item)
}

// close ends what runs in all sessions. It goes on when they are used again.
func (f *family) close() {
	f.mu.Lock()
	f.closed = true
	var closing sync.WaitGroup
	for _, c := range f.clients {
		closing.Go(c.close)
	}
	f.mu.Unlock()
	closing.Wait()
	for _, sessions := range f.sessions {
		sessions.Close()
	}
}

// checks reports which model is used. To have none is no problem.
func (f *family) checks(context.Context) []toolset.Check {
	check := func(status toolset.Status, detail, fix string) toolset.Check {
		return toolset.Check{Name: "models", Status: status, Detail: detail, Fix: fix}
	}
	s, m, err := f.here()
	if s == nil {
		return []toolset.Check{check(toolset.Problem, err.Error(), "correct the file")}
	}
	var checks []toolset.Check
	switch n := len(s.Config.Models); {
	case n == 0:
		checks = append(checks, check(toolset.Off, "none is configured, so the conv tools are not offered", ""))
	case err != nil:
		checks = append(checks, check(toolset.Problem, "the conv tools are not offered: "+err.Error(), `correct it, or name one with model = "NAME" in [session]`))
	default:
		checks = append(checks, check(toolset.OK, text.Count(n, "model", "models")+"; "+m.Name+" is used", ""))
	}
	for _, wrong := range s.Problems {
		checks = append(checks, check(toolset.Problem, wrong.Error(), "correct the table"))
	}
	for _, left := range s.LeftOut {
		checks = append(checks, check(toolset.Warning, left.Error(), ""))
	}
	return checks
}
