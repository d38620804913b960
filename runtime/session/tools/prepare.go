package tools

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/convtools/convtools/generated/conv"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/session"
)

// maxArguments is how many bytes of arguments a call may have: all of them are kept in the log, and read again by a
// model.
const maxArguments = 4 << 20

// decode returns what a call of a conv tool asks for, by a conversation with some settings.
func (s *Sessions) decode(ctx context.Context, settings, tool string, arguments []byte) (*preparation, *session.Refusal) {
	if len(arguments) > maxArguments {
		return nil, &session.Refusal{
			Code: session.CodeInvalidArguments, Reason: fmt.Sprintf("the arguments have %d bytes, and at most %d are taken", len(arguments), maxArguments),
		}
	}
	p := &preparation{sessions: s, settings: settings}
	if _, err := conv.Call(ctx, p, contract.Call{Tool: tool, Arguments: arguments}); err != nil {
		return nil, refusalOf(err)
	}
	return p, nil
}

// refusalOf returns why the generated dispatcher, or a handler of it, refuses a call.
func refusalOf(err error) *session.Refusal {
	var refusal *session.Refusal
	if errors.As(err, &refusal) {
		return refusal
	}
	refusal = &session.Refusal{Code: session.CodeInvalidArguments, Reason: err.Error()}
	var invalid *contract.InvalidArguments
	if errors.As(err, &invalid) {
		refusal.Reason = invalid.Error()
		if len(invalid.Problems) > 0 {
			refusal.Field = invalid.Problems[0].Path
		}
	}
	return refusal
}

// preparation makes a request of arguments that are valid. It is the handler of the generated dispatcher, whose answers
// are thrown away: the core of sessions answers.
type preparation struct {
	sessions *Sessions
	settings string

	request session.Request
	wait    *int   // how many milliseconds a caller outside of the session waits; nil where the call does not say
	task    string // of conv.wait

	files files // that have been read
	items []session.Part
}

// Create prepares conv.create.
func (p *preparation) Create(_ context.Context, _ contract.Call, a conv.CreateParams) (none conv.CreateResult, err error) {
	r := session.Create{
		Base: a.BaseInstructionText, UserInstruction: a.UserInstruction, MCPAllowlist: a.MCPAllowlist,
	}
	if err := p.open(); err != nil {
		return none, err
	}
	defer p.files.close()
	if a.BaseInstructionFile != nil {
		base, err := p.files.text(*a.BaseInstructionFile, "base_instruction_file")
		if err != nil {
			return none, err
		}
		r.Base = &base
	}
	for _, i := range a.Items {
		if err := p.add(conv.SendItem(i)); err != nil {
			return none, err
		}
	}
	r.Items = p.items
	if tools := a.InternalTools; tools != nil {
		if tools.WebSearchRequest != nil && *tools.WebSearchRequest && !p.searches() {
			return none, &session.Refusal{
				Code: session.CodeUnavailable, Field: "internal_tools.web_search_request", Reason: "the model that is configured here has no web search",
			}
		}
		r.Internal = session.InternalTools{}
		for tool, given := range map[string]*bool{
			session.PlanTool: tools.IncludePlanTool, session.PatchTool: tools.IncludeApplyPatchTool, session.SearchTool: tools.WebSearchRequest,
			session.ShellTool: tools.UseStreamableShellTool, session.ConvTools: tools.IncludeConvTools,
		} {
			if given != nil {
				r.Internal[tool] = *given
			}
		}
	}
	if a.Title != nil {
		r.Title = *a.Title
	}
	r.Budget = p.budget((*conv.SendBudget)(a.Budget))
	p.request.Create, p.wait = &r, a.WaitMs
	return none, nil
}

// Send prepares conv.send.
func (p *preparation) Send(_ context.Context, _ contract.Call, a conv.SendParams) (none conv.SendResult, err error) {
	if err := p.open(); err != nil {
		return none, err
	}
	defer p.files.close()
	for _, item := range a.Items {
		if err := p.add(item); err != nil {
			return none, err
		}
	}
	p.wait = a.WaitMs
	p.request.Send = &session.Send{ConversationID: a.ConversationID, Text: a.Text, Items: p.items, Budget: p.budget(a.Budget)}
	return none, nil
}

// List prepares conv.list, which has no parameters.
func (p *preparation) List(context.Context, contract.Call, conv.ListParams) (none conv.ListResult, err error) {
	return none, nil
}

// History prepares conv.history.
func (p *preparation) History(_ context.Context, _ contract.Call, a conv.HistoryParams) (none conv.HistoryResult, err error) {
	p.request.History = &session.History{ConversationID: a.ConversationID, Limit: a.Limit}
	return none, nil
}

// Destroy prepares conv.destroy.
func (p *preparation) Destroy(_ context.Context, _ contract.Call, a conv.DestroyParams) (none conv.DestroyResult, err error) {
	p.request.Destroy = &session.Destroy{ConversationID: a.ConversationID}
	return none, nil
}

// Wait prepares conv.wait, which only callers outside of a session have.
func (p *preparation) Wait(_ context.Context, _ contract.Call, a conv.WaitParams) (none conv.WaitResult, err error) {
	p.task, p.wait = a.TaskID, a.WaitMs
	return none, nil
}

// searches reports whether the model can search the web: the calling conversation may have been created when it
// could.
func (p *preparation) searches() bool {
	m, err := p.sessions.Config.Choose(p.files.settings.Model)
	return err == nil && m.WebSearch()
}

func (p *preparation) budget(asked *conv.SendBudget) session.Budget {
	var b session.Budget
	if asked == nil {
		return b
	}
	if asked.Tokens != nil {
		b.Tokens = int64(*asked.Tokens)
	}
	if asked.ToolCalls != nil {
		b.Calls = int64(*asked.ToolCalls)
	}
	if asked.Seconds != nil {
		b.Deadline = p.sessions.now().UTC().Round(0).Add(time.Duration(*asked.Seconds) * time.Second)
	}
	return b
}

func (p *preparation) open() error {
	settings, err := ParseSettings(p.settings)
	p.files = files{settings: settings}
	return err
}

// add adds an item of the input, which has the member that its type names and no other.
func (p *preparation) add(item conv.SendItem) (err error) {
	var part session.Part
	members := []struct {
		of, name string
		value    *string
	}{{"text", "text", item.Text}, {"image", "image_url", item.ImageURL}, {"local_image", "path", item.Path}}
	for _, m := range members {
		if (m.value != nil) != (m.of == item.Type) {
			return &session.Refusal{
				Code: session.CodeInvalidArguments, Field: p.member(m.name),
				Reason: "an item of type " + item.Type + " has " + map[bool]string{true: "no " + m.name, false: "a " + m.name}[m.value != nil],
			}
		}
	}
	switch {
	case item.Text != nil:
		part.Text = *item.Text
	case item.ImageURL != nil:
		part.ImageURL = *item.ImageURL
		scheme, _, _ := strings.Cut(part.ImageURL, ":")
		if scheme != "http" && scheme != "https" && !strings.HasPrefix(part.ImageURL, "data:image/") {
			return &session.Refusal{
				Code: session.CodeInvalidArguments, Field: p.member("image_url"),
				Reason: "the address of an image begins with https://, http:// or data:image/, and not with " + text.Quote(text.Cut(part.ImageURL, maxShown)),
			}
		}
	case item.Path != nil:
		part.ImageURL, err = p.files.image(*item.Path, p.member("path"))
	}
	p.items = append(p.items, part)
	return err
}

// member returns the place of a member of the next item in the arguments.
func (p *preparation) member(name string) string {
	return fmt.Sprintf("items[%d].%s", len(p.items), name)
}

// maxShown is how many characters of an address a refusal repeats.
const maxShown = 60
