package tools

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/convtools/convtools/generated/conv"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/coerce"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/model/configured"
	"github.com/convtools/convtools/runtime/session"
)

// maxArguments is how many bytes of arguments a call may have: all of them are kept in the log, and read again by a
// model.
const maxArguments = 4 << 20

// asked is what a call of a conv tool asks for.
type asked struct {
	request session.Request
	wait    *int   // how many milliseconds a caller outside of the session waits; nil where the call does not say
	task    string // of conv.wait
}

// decode returns what a call of a conv tool asks for that a conversation with some settings makes. Files that it names
// are read.
func (s *Sessions) decode(settings Settings, tool string, arguments []byte) (a asked, refusal *session.Refusal) {
	if len(arguments) > maxArguments {
		return a, &session.Refusal{
			Code: session.CodeInvalidArguments, Reason: fmt.Sprintf("the arguments have %d bytes, and at most %d are taken", len(arguments), maxArguments),
		}
	}
	r := reader{sessions: s, settings: settings}
	call := &contract.Call{Tool: tool, Arguments: arguments}
	var err error
	switch tool {
	case session.ConvCreate:
		err = with(call, conv.CreateTool(), func(p conv.CreateParams) (err error) {
			a.wait = p.WaitMs
			a.request.Create, err = r.create(p)
			return err
		})
	case session.ConvSend:
		err = with(call, conv.SendTool(), func(p conv.SendParams) (err error) {
			a.wait = p.WaitMs
			a.request.Send = &session.Send{ConversationID: p.ConversationID, Text: p.Text, Budget: r.budget(p.Budget)}
			a.request.Send.Items, err = r.items(p.Items)
			return err
		})
	case session.ConvHistory:
		err = with(call, conv.HistoryTool(), func(p conv.HistoryParams) error {
			a.request.History = &session.History{ConversationID: p.ConversationID, Limit: p.Limit}
			return nil
		})
	case session.ConvDestroy:
		err = with(call, conv.DestroyTool(), func(p conv.DestroyParams) error {
			a.request.Destroy = &session.Destroy{ConversationID: p.ConversationID}
			return nil
		})
	case session.ConvList:
		err = with(call, conv.ListTool(), func(conv.ListParams) error { return nil })
	default:
		err = with(call, conv.WaitTool(), func(p conv.WaitParams) error {
			a.task, a.wait = p.TaskID, p.WaitMs
			return nil
		})
	}
	return a, refusalOf(err)
}

// with has the arguments of a call taken, unless they are invalid.
func with[P any](call *contract.Call, tool contract.Tool, take func(P) error) error {
	p, err := coerce.Params[P](call, &tool)
	if err != nil {
		return err
	}
	return take(p)
}

// refusalOf returns an error as a refusal, and nil for no error.
func refusalOf(err error) *session.Refusal {
	var refusal *session.Refusal
	if err == nil || errors.As(err, &refusal) {
		return refusal
	}
	refusal = &session.Refusal{Code: session.CodeInvalidArguments, Reason: err.Error()}
	var invalid *contract.InvalidArguments
	if errors.As(err, &invalid) && len(invalid.Problems) > 0 {
		refusal.Field = invalid.Problems[0].Path
	}
	return refusal
}

// reader makes requests of valid arguments, and reads the files that they name.
type reader struct {
	sessions *Sessions
	settings Settings
	images   int // bytes of the image files that were read
}

func (r *reader) create(p conv.CreateParams) (*session.Create, error) {
	c := &session.Create{
		Base: p.BaseInstructionText, UserInstruction: p.UserInstruction, MCPAllowlist: p.MCPAllowlist, Budget: r.budget((*conv.SendBudget)(p.Budget)),
	}
	if p.Title != nil {
		c.Title = *p.Title
	}
	if p.BaseInstructionFile != nil {
		base, err := r.text(*p.BaseInstructionFile, "base_instruction_file")
		if err != nil {
			return nil, err
		}
		c.Base = &base
	}
	var items []conv.SendItem
	for _, i := range p.Items {
		items = append(items, conv.SendItem(i))
	}
	var err error
	if c.Items, err = r.items(items); err != nil || p.InternalTools == nil {
		return c, err
	}
	c.Internal = session.InternalTools{}
	for tool, given := range map[string]*bool{
		session.PlanTool: p.InternalTools.IncludePlanTool, session.PatchTool: p.InternalTools.IncludeApplyPatchTool,
		session.SearchTool: p.InternalTools.WebSearchRequest, session.ShellTool: p.InternalTools.UseStreamableShellTool,
		session.ConvTools: p.InternalTools.IncludeConvTools,
	} {
		if given != nil {
			c.Internal[tool] = *given
		}
	}
	if c.Internal[session.SearchTool] && !r.searches() {
		return nil, &session.Refusal{
			Code: session.CodeUnavailable, Field: "internal_tools.web_search_request", Reason: "the model that is configured here has no web search",
		}
	}
	return c, nil
}

// searches reports whether the model can search the web: the calling conversation may have been created when it
// could.
func (r *reader) searches() bool {
	m, err := configured.Choose(r.sessions.Config, r.settings.Model)
	return err == nil && m.Is.WebSearch
}

func (r *reader) budget(asked *conv.SendBudget) (b session.Budget) {
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
		b.Deadline = r.sessions.now().UTC().Round(0).Add(time.Duration(*asked.Seconds) * time.Second)
	}
	return b
}

// items returns the parts of a message. An item has the member that its type names, and no other.
func (r *reader) items(items []conv.SendItem) (parts []session.Part, err error) {
	for i, item := range items {
		refuse := func(member, reason string) ([]session.Part, error) {
			return nil, &session.Refusal{Code: session.CodeInvalidArguments, Field: fmt.Sprintf("items[%d].%s", i, member), Reason: reason}
		}
		for _, m := range []struct {
			of, member string
			value      *string
		}{{"text", "text", item.Text}, {"image", "image_url", item.ImageURL}, {"local_image", "path", item.Path}} {
			switch {
			case m.of == item.Type && m.value == nil:
				return refuse(m.member, "an item of type "+item.Type+" needs "+m.member)
			case m.of != item.Type && m.value != nil:
				return refuse(m.member, "an item of type "+item.Type+" has no "+m.member)
			}
		}
		var part session.Part
		switch {
		case item.Text != nil:
			part.Text = *item.Text
		case item.Path != nil:
			if part.ImageURL, err = r.image(*item.Path, fmt.Sprintf("items[%d].path", i)); err != nil {
				return nil, err
			}
		default:
			part.ImageURL = *item.ImageURL
			scheme, _, _ := strings.Cut(part.ImageURL, ":")
			if scheme != "http" && scheme != "https" && !strings.HasPrefix(part.ImageURL, "data:image/") {
				return refuse("image_url", "the address of an image begins with https://, http:// or data:image/, and not with "+text.Quote(text.Cut(part.ImageURL, 60)))
			}
		}
		parts = append(parts, part)
	}
	return parts, nil
}
