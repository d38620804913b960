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

// Limits of a call of a conv tool, in bytes. The log keeps arguments and files, and models read them again.
const (
	maxArguments   = 4 << 20  // of the JSON of the arguments
	maxInstruction = 1 << 20  // of a base_instruction_file
	maxImage       = 8 << 20  // of an image file
	maxImages      = 16 << 20 // of all image files of the call together
)

// decoded is a call of a conv tool, while and after it is decoded.
type decoded struct {
	tool    string // its canonical name
	request session.Request
	wait    *int    // milliseconds for which a program outside of the session waits; nil is the default
	task    *string // the task_id of conv.wait; nil for other tools

	project  *Project
	settings Settings // of the caller
	images   int      // bytes of the image files so far
}

// decodeCall decodes and validates the arguments of a conv tool, given by any of its names, and reads the files that the
// arguments name. The request of a wrong call has only Refused. settings are those of the caller.
func (p *Project) decodeCall(settings Settings, name string, arguments []byte) *decoded {
	all := declared()
	tool := &all[slices.IndexFunc(all, func(t contract.Tool) bool { return t.AnswersTo(name) })]
	d := &decoded{tool: tool.Name, project: p, settings: settings}
	err := d.setRequest(&contract.Call{Tool: tool.Name, Arguments: arguments}, tool)
	if err == nil {
		return d
	}
	refusal, isRefusal := errors.AsType[*session.Refusal](err)
	if !isRefusal {
		refusal = refuse("", "%v", err)
	}
	if invalid, ok := errors.AsType[*contract.InvalidArguments](err); ok && len(invalid.Problems) > 0 {
		refusal.Field = invalid.Problems[0].Path
	}
	d.request = session.Request{Refused: refusal}
	return d
}

// setRequest sets what the arguments say. The error is a [*session.Refusal], or that of [coerce.Params].
func (d *decoded) setRequest(call *contract.Call, tool *contract.Tool) (err error) {
	if n := len(call.Arguments); n > maxArguments {
		return refuse("", "the arguments have %d bytes; the limit is %d", n, maxArguments)
	}
	switch tool.Name {
	case session.ConvCreate:
		var a conv.CreateParams
		if a, err = coerce.Params[conv.CreateParams](call, tool); err == nil {
			err = d.setCreate(a)
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
	default: // conv.wait, which has no request
		var a conv.WaitParams
		a, err = coerce.Params[conv.WaitParams](call, tool)
		d.task, d.wait = &a.TaskID, a.WaitMs
	}
	return err
}

// refuse returns the refusal of a call because of an argument.
func refuse(field, format string, args ...any) *session.Refusal {
	return &session.Refusal{Code: session.CodeInvalidArguments, Field: field, Reason: fmt.Sprintf(format, args...)}
}

// setCreate sets the request and the wait of conv.create, and reads the files.
func (d *decoded) setCreate(a conv.CreateParams) (err error) {
	d.wait = a.WaitMs
	c := &session.Create{
		ConversationID: uuid.NewString(), Base: a.BaseInstructionText, UserInstruction: a.UserInstruction, MCPAllowlist: a.MCPAllowlist,
		Title: orZero(a.Title), Budget: d.budget((*conv.SendBudget)(a.Budget)),
	}
	d.request.Create = c
	if file := a.BaseInstructionFile; file != nil {
		data, err := d.readFile(*file, maxInstruction)
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
	given := map[string]*bool{
		session.PlanTool: a.InternalTools.IncludePlanTool, session.PatchTool: a.InternalTools.IncludeApplyPatchTool,
		session.SearchTool: a.InternalTools.WebSearchRequest, session.ShellTool: a.InternalTools.UseStreamableShellTool,
		session.ConvTools: a.InternalTools.IncludeConvTools,
	}
	for tool, value := range given {
		if value != nil {
			c.Internal[tool] = *value
		}
	}
	if c.Internal[session.SearchTool] {
		return d.checkSearch()
	}
	return nil
}

// checkSearch refuses the web search if the caller's model has none: the caller may have the tool from an earlier model.
func (d *decoded) checkSearch() error {
	if m, err := configured.Choose(d.project.Config, d.settings.Model); err == nil && m.Value.WebSearch {
		return nil
	}
	const field, reason = "internal_tools.web_search_request", "the model that is configured here has no web search"
	return &session.Refusal{Code: session.CodeUnavailable, Field: field, Reason: reason}
}

// budget returns the budget that a call gives. Its seconds count from now.
func (d *decoded) budget(a *conv.SendBudget) (b session.Budget) {
	if a == nil {
		return b
	}
	b.Tokens, b.Calls = int64(orZero(a.Tokens)), int64(orZero(a.ToolCalls))
	if a.Seconds != nil {
		b.Deadline = d.project.host.Now().UTC().Round(0).Add(time.Duration(*a.Seconds) * time.Second)
	}
	return b
}

// orZero returns the value of an argument, or the zero value if the argument is not given.
func orZero[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// parts returns the parts of a message, with image files as data: URLs. The error is the refusal of an item.
func (d *decoded) parts(items []conv.SendItem) (parts []session.Part, err error) {
	for i, item := range items {
		place := fmt.Sprintf("items[%d].", i)
		if err := checkMembers(place, item); err != nil {
			return nil, err
		}
		part := session.Part{Text: orZero(item.Text), ImageURL: orZero(item.ImageURL)}
		scheme, _, _ := strings.Cut(part.ImageURL, ":")
		isAddress := scheme == "http" || scheme == "https" || strings.HasPrefix(part.ImageURL, "data:image/")
		switch {
		case item.Path != nil:
			if part.ImageURL, err = d.readImage(*item.Path); err != nil {
				return nil, unreadable(*item.Path, place+"path", err)
			}
		case item.ImageURL != nil && !isAddress:
			return nil, refuse(place+"image_url", "the address of an image begins with https://, http:// or data:image/, and not with %s", text.Quote(text.Cut(part.ImageURL, 60)))
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// checkMembers refuses an item at a place, such as "items[0].", that lacks the member for its type or has another member.
func checkMembers(place string, item conv.SendItem) error {
	type member struct {
		itemType, name string
		value          *string
	}
	for _, m := range []member{{"text", "text", item.Text}, {"image", "image_url", item.ImageURL}, {"local_image", "path", item.Path}} {
		switch {
		case m.itemType == item.Type && m.value == nil:
			return refuse(place+m.name, "an item of type %s needs %s", item.Type, m.name)
		case m.itemType != item.Type && m.value != nil:
			return refuse(place+m.name, "an item of type %s has no %s", item.Type, m.name)
		}
	}
	return nil
}

// readImage returns an image file as a data: URL.
func (d *decoded) readImage(path string) (string, error) {
	data, err := d.readFile(path, maxImage)
	if err != nil {
		return "", err
	}
	d.images += len(data)
	kind := http.DetectContentType(data)
	switch {
	case d.images > maxImages:
		return "", fmt.Errorf("the image files of one call have more than %d bytes", maxImages)
	case !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, kind):
		return "", errors.New("it is not a PNG, JPEG, GIF or WebP image")
	}
	return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(data), nil
}

// readFile reads a file of the workspace that has at most maxBytes. Links cannot lead out of the workspace.
func (d *decoded) readFile(path string, maxBytes int64) ([]byte, error) {
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
	realRoot, _ := filepath.EvalSymlinks(d.settings.Root) // an absolute path may begin with this instead of Root
	for _, dir := range []string{d.settings.Root, realRoot} {
		if inside, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(inside) {
			return safefile.ReadIn(root, inside, maxBytes)
		}
	}
	return nil, errors.New("it is outside of the workspace")
}

// unreadable returns the refusal of a call whose argument field names a file. It shows no path except that of the call.
func unreadable(path, field string, err error) *session.Refusal {
	if outer := (*fs.PathError)(nil); errors.As(err, &outer) {
		err = outer.Err
	}
	return &session.Refusal{Code: session.CodeUnreadableFile, Field: field, Reason: text.Quote(path) + " cannot be used: " + err.Error()}
}
