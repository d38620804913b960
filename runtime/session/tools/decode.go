package tools

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/generated/conv"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/coerce"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/model/configured"
	"github.com/convtools/convtools/runtime/session"
)

// maxArguments limits the bytes of a call's arguments: the log keeps them, and models read them again.
const maxArguments = 4 << 20

// decoded is a valid call of a conv tool.
type decoded struct {
	tool    string // its canonical name
	request session.Request
	wait    *int   // milliseconds that a caller outside of the session waits; nil is the default
	task    string // of conv.wait
}

// decode validates a call of a conv tool, by any of its names, and reads the files that it names. settings are those
// of the calling conversation.
func (p *Project) decode(settings Settings, name string, arguments []byte) (d decoded, refusal *session.Refusal) {
	if n := len(arguments); n > maxArguments {
		return d, refuse("", "the arguments have %d bytes, and at most %d are taken", n, maxArguments)
	}
	all := declared()
	tool := all[slices.IndexFunc(all, func(t contract.Tool) bool { return t.AnswersTo(name) })]
	d.tool = tool.Name
	r := reader{project: p, settings: settings}
	call := &contract.Call{Tool: tool.Name, Arguments: arguments}
	var err error
	switch tool.Name {
	case session.ConvCreate:
		var a conv.CreateParams
		if a, err = coerce.Params[conv.CreateParams](call, &tool); err == nil {
			d.wait = a.WaitMs
			d.request.Create, err = r.create(a)
		}
	case session.ConvSend:
		var a conv.SendParams
		if a, err = coerce.Params[conv.SendParams](call, &tool); err == nil {
			d.wait = a.WaitMs
			d.request.Send = &session.Send{ConversationID: a.ConversationID, Text: a.Text, Budget: r.budget(a.Budget)}
			d.request.Send.Items, err = r.parts(a.Items)
		}
	case session.ConvHistory:
		var a conv.HistoryParams
		a, err = coerce.Params[conv.HistoryParams](call, &tool)
		d.request.History = (*session.History)(&a)
	case session.ConvDestroy:
		var a conv.DestroyParams
		a, err = coerce.Params[conv.DestroyParams](call, &tool)
		d.request.Destroy = (*session.Destroy)(&a)
	case session.ConvList:
		_, err = coerce.Params[conv.ListParams](call, &tool)
	default:
		var a conv.WaitParams
		a, err = coerce.Params[conv.WaitParams](call, &tool)
		d.task, d.wait = a.TaskID, a.WaitMs
	}
	return d, refusalOf(err)
}

// refuse returns the refusal of an argument.
func refuse(field, format string, args ...any) *session.Refusal {
	return &session.Refusal{Code: session.CodeInvalidArguments, Field: field, Reason: fmt.Sprintf(format, args...)}
}

// refusalOf returns an error as a refusal. It is nil for nil.
func refusalOf(err error) *session.Refusal {
	var refusal *session.Refusal
	if err == nil || errors.As(err, &refusal) {
		return refusal
	}
	field := ""
	if invalid := (*contract.InvalidArguments)(nil); errors.As(err, &invalid) && len(invalid.Problems) > 0 {
		field = invalid.Problems[0].Path
	}
	return refuse(field, "%v", err)
}

// reader turns valid arguments into requests and reads the files that they name. Its errors are refusals.
type reader struct {
	project  *Project
	settings Settings
	images   int // bytes of the image files so far
}

func (r *reader) create(a conv.CreateParams) (c *session.Create, err error) {
	c = &session.Create{
		Base: a.BaseInstructionText, UserInstruction: a.UserInstruction, MCPAllowlist: a.MCPAllowlist,
		Title: value(a.Title), Budget: r.budget((*conv.SendBudget)(a.Budget)),
	}
	if a.BaseInstructionFile != nil {
		base, err := r.text(*a.BaseInstructionFile, "base_instruction_file")
		if err != nil {
			return nil, err
		}
		c.Base = &base
	}
	var items []conv.SendItem
	for _, item := range a.Items {
		items = append(items, conv.SendItem(item))
	}
	if c.Items, err = r.parts(items); err != nil || a.InternalTools == nil {
		return c, err
	}
	c.Internal = session.InternalTools{}
	for tool, given := range map[string]*bool{
		session.PlanTool: a.InternalTools.IncludePlanTool, session.PatchTool: a.InternalTools.IncludeApplyPatchTool,
		session.SearchTool: a.InternalTools.WebSearchRequest, session.ShellTool: a.InternalTools.UseStreamableShellTool,
		session.ConvTools: a.InternalTools.IncludeConvTools,
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

// searches reports whether the model can search the web now. The calling conversation may be older.
func (r *reader) searches() bool {
	m, err := configured.Choose(r.project.Config, r.settings.Model)
	return err == nil && m.Is.WebSearch
}

func (r *reader) budget(a *conv.SendBudget) (b session.Budget) {
	if a == nil {
		return b
	}
	b.Tokens, b.Calls = int64(value(a.Tokens)), int64(value(a.ToolCalls))
	if a.Seconds != nil {
		b.Deadline = r.project.host.Now().UTC().Round(0).Add(time.Duration(*a.Seconds) * time.Second)
	}
	return b
}

// value returns the value of an argument, and the zero value for one that is not given.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// parts returns the parts of a message.
func (r *reader) parts(items []conv.SendItem) (parts []session.Part, err error) {
	for i, item := range items {
		at := fmt.Sprintf("items[%d].", i)
		if err := misfit(at, item); err != nil {
			return nil, err
		}
		var part session.Part
		switch {
		case item.Text != nil:
			part.Text = *item.Text
		case item.Path != nil:
			if part.ImageURL, err = r.image(*item.Path, at+"path"); err != nil {
				return nil, err
			}
		default:
			part.ImageURL = *item.ImageURL
			scheme, _, _ := strings.Cut(part.ImageURL, ":")
			if scheme != "http" && scheme != "https" && !strings.HasPrefix(part.ImageURL, "data:image/") {
				return nil, refuse(at+"image_url", "the address of an image begins with https://, http:// or data:image/, and not with %s", text.Quote(text.Cut(part.ImageURL, 60)))
			}
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// misfit returns a refusal unless an item has the member that its type names, and no other. at is its place.
func misfit(at string, item conv.SendItem) error {
	for _, m := range []struct {
		of, member string
		value      *string
	}{{"text", "text", item.Text}, {"image", "image_url", item.ImageURL}, {"local_image", "path", item.Path}} {
		switch {
		case m.of == item.Type && m.value == nil:
			return refuse(at+m.member, "an item of type %s needs %s", item.Type, m.member)
		case m.of != item.Type && m.value != nil:
			return refuse(at+m.member, "an item of type %s has no %s", item.Type, m.member)
		}
	}
	return nil
}
