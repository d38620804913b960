package tools

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/convtools/convtools/generated/conv"
	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/coerce"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/model/configured"
	"github.com/convtools/convtools/runtime/session"
)

// Limits of a call, in bytes. The log keeps arguments and files, and models read them again.
const (
	maxArguments   = 4 << 20
	maxInstruction = 1 << 20  // of a base_instruction_file
	maxImage       = 8 << 20  // of an image file
	maxImages      = 16777216 // of all image files
)

// decoded is a call of a conv tool.
type decoded struct {
	tool    string // its canonical name
	request session.Request
	wait    *int    // milliseconds that a caller outside of the session waits; nil is the default
	task    *string // of conv.wait; nil for other tools

	project  *Project
	settings Settings // of the caller
	images   int      // bytes of image files
}

// decode validates a call of a conv tool, by any of its names, and reads its files. A wrong call has Refused.
func (p *Project) decode(settings Settings, name string, arguments []byte) *decoded {
	all := declared()
	tool := &all[slices.IndexFunc(all, func(t contract.Tool) bool { return t.AnswersTo(name) })]
	d := &decoded{tool: tool.Name, project: p, settings: settings}
	err := d.take(&contract.Call{Tool: tool.Name, Arguments: arguments}, tool)
	if err == nil {
		return d
	}
	var refusal *session.Refusal
	if !errors.As(err, &refusal) {
		refusal = refuse("", "%v", err)
	}
	if invalid := (*contract.InvalidArguments)(nil); errors.As(err, &invalid) && len(invalid.Problems) > 0 {
		refusal.Field = invalid.Problems[0].Path
	}
	d.request = session.Request{Refused: refusal}
	return d
}

func (d *decoded) take(call *contract.Call, tool *contract.Tool) (err error) {
	if n := len(call.Arguments); n > maxArguments {
		return refuse("", "the arguments have %d bytes; the limit is %d", n, maxArguments)
	}
	switch tool.Name {
	case session.ConvCreate:
		var a conv.CreateParams
		if a, err = coerce.Params[conv.CreateParams](call, tool); err == nil {
			err = d.create(a)
		}
	case session.ConvSend:
		var a conv.SendParams
		if a, err = coerce.Params[conv.SendParams](call, tool); err == nil {
			d.wait = a.WaitMs
			d.request.Send = &session.Send{ConversationID: a.ConversationID, Text: a.Text, Budget: d.budget(a.Budget)}
			d.request.Send.Items, err = d.parts(a.Items)
		}
	case session.ConvHistory:
		var a conv.HistoryParams
		a, err = coerce.Params[conv.HistoryParams](call, tool)
		d.request.History = (*session.History)(&a)
	case session.ConvDestroy:
		var a conv.DestroyParams
		a, err = coerce.Params[conv.DestroyParams](call, tool)
		d.request.Destroy = (*session.Destroy)(&a)
	case session.ConvList:
		_, err = coerce.Params[conv.ListParams](call, tool)
	default:
		var a conv.WaitParams
		a, err = coerce.Params[conv.WaitParams](call, tool)
		d.task, d.wait = &a.TaskID, a.WaitMs
	}
	return err
}

// refuse returns the refusal of an argument.
func refuse(field, format string, args ...any) *session.Refusal {
	return &session.Refusal{Code: session.CodeInvalidArguments, Field: field, Reason: fmt.Sprintf(format, args...)}
}

func (d *decoded) create(a conv.CreateParams) (err error) {
	d.wait = a.WaitMs
	c := &session.Create{
		ConversationID: uuid.NewString(), Base: a.BaseInstructionText, UserInstruction: a.UserInstruction, MCPAllowlist: a.MCPAllowlist,
		Title: value(a.Title), Budget: d.budget((*conv.SendBudget)(a.Budget)),
	}
	d.request.Create = c
	if file := a.BaseInstructionFile; file != nil {
		data, err := d.read(*file, maxInstruction)
		if err == nil && !utf8.Valid(data) {
			err = errors.New("it is not UTF-8")
		}
		if err != nil {
			return unreadable(*file, "base_instruction_file", err)
		}
		base := strings.TrimPrefix(string(data), "\ufeff")
		c.Base = &base
	}
	var items []conv.SendItem
	for _, item := range a.Items {
		items = append(items, conv.SendItem(item))
	}
	if c.Items, err = d.parts(items); err != nil || a.InternalTools == nil {
		return err
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
	if !c.Internal[session.SearchTool] {
		return nil
	}
	// The caller may have the tool from a model that could search.
	if m, err := configured.Choose(d.project.Config, d.settings.Model); err == nil && m.Value.WebSearch {
		return nil
	}
	const field, reason = "internal_tools.web_search_request", "the model that is configured here has no web search"
	return &session.Refusal{Code: session.CodeUnavailable, Field: field, Reason: reason}
}

func (d *decoded) budget(a *conv.SendBudget) (b session.Budget) {
	if a == nil {
		return b
	}
	b.Tokens, b.Calls = int64(value(a.Tokens)), int64(value(a.ToolCalls))
	if a.Seconds != nil {
		b.Deadline = d.project.host.Now().UTC().Round(0).Add(time.Duration(*a.Seconds) * time.Second)
	}
	return b
}

// value returns the value of an argument, or the zero value if it is not given.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// parts returns the parts of a message.
func (d *decoded) parts(items []conv.SendItem) (parts []session.Part, err error) {
	for i, item := range items {
		at := fmt.Sprintf("items[%d].", i)
		if err := misfit(at, item); err != nil {
			return nil, err
		}
		part := session.Part{Text: value(item.Text), ImageURL: value(item.ImageURL)}
		switch scheme, _, _ := strings.Cut(part.ImageURL, ":"); {
		case item.Path != nil:
			if part.ImageURL, err = d.image(*item.Path); err != nil {
				return nil, unreadable(*item.Path, at+"path", err)
			}
		case item.ImageURL != nil && scheme != "http" && scheme != "https" && !strings.HasPrefix(part.ImageURL, "data:image/"):
			return nil, refuse(at+"image_url", "the address of an image begins with https://, http:// or data:image/, and not with %s", text.Quote(text.Cut(part.ImageURL, 60)))
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// misfit returns a refusal unless an item has the member that its type needs, and no other. at is its place.
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

// image returns an image file as a data: URL.
func (d *decoded) image(path string) (string, error) {
	data, err := d.read(path, maxImage)
	d.images += len(data)
	kind := http.DetectContentType(data)
	switch {
	case err != nil:
		return "", err
	case d.images > maxImages:
		return "", errors.New("the image files of one call have more than 16777216 bytes")
	case !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, kind):
		return "", errors.New("it is not a PNG, JPEG, GIF or WebP image")
	}
	return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(data), nil
}

// read reads a file of the workspace. Links cannot lead out of the workspace.
func (d *decoded) read(path string, most int64) ([]byte, error) {
	if d.settings.Root == "" {
		return nil, errors.New("there is no workspace here: a project has a directory .jp or a file convtools.toml")
	}
	root, err := safefile.OpenDir(d.settings.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if !filepath.IsAbs(path) {
		path = filepath.Join(d.settings.Dir, path)
	}
	real, _ := filepath.EvalSymlinks(d.settings.Root) // path may begin with it
	for _, dir := range []string{d.settings.Root, real} {
		if inside, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(inside) {
			return safefile.ReadIn(root, inside, most)
		}
	}
	return nil, errors.New("it is outside of the workspace")
}

// unreadable returns the refusal of a call that names a file. It names no path except that of the call.
func unreadable(path, field string, err error) *session.Refusal {
	if outer := (*fs.PathError)(nil); errors.As(err, &outer) {
		err = outer.Err
	}
	return &session.Refusal{
		Code: session.CodeUnreadableFile, Field: field, Reason: text.Quote(path) + " cannot be used: " + err.Error(),
	}
}
