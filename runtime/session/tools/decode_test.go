package tools

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/toolset"
)

var noon = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)

// secret is in a file outside of the workspace.
const secret = "outside 7f3a"

const png = "\x89PNG\r\n\x1a\nrest"

// lab is a workspace with a directory to work in, and files around it that are none of its own.
type lab struct {
	root, dir string
	tools     *Project
}

func newLab(t testing.TB) *lab {
	t.Helper()
	top := t.TempDir()
	l := &lab{root: filepath.Join(top, "project"), dir: filepath.Join(top, "project", "sub")}
	write := func(name, text string) {
		path := filepath.Join(top, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("secret.md", secret)
	write("project/base.md", "\ufeffBe brief.\n")
	write("project/empty.md", "")
	write("project/latin1.md", "caf\xe9")
	write("project/large.md", strings.Repeat("x", 1<<20+1))
	write("project/full.md", strings.Repeat("x", 1<<20))
	write("project/sub/a.png", png)
	write("project/sub/base.md", "Below.")
	for name, bytes := range map[string]int{"huge.png": 8<<20 + 1, "big.png": 6 << 20} {
		write("project/"+name, png+strings.Repeat("x", bytes-len(png)))
	}
	if err := os.Symlink(filepath.Join(top, "secret.md"), filepath.Join(l.root, "out.md")); err != nil && runtime.GOOS != "windows" {
		t.Fatal(err)
	}
	if err := os.Symlink("base.md", filepath.Join(l.root, "in.md")); err != nil && runtime.GOOS != "windows" {
		t.Fatal(err)
	}
	registry, err := toolset.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	l.tools = &Project{
		Config: &config.Config{}, servers: newServers(nil, mcp.Implementation{}, "", nil), registry: registry,
		host: &toolset.Host{Now: func() time.Time { return noon }},
	}
	return l
}

func (l *lab) prepare(t testing.TB, tool, arguments string) session.Request {
	t.Helper()
	c := &session.Conversation{Context: session.Context{Settings: Settings{Root: l.root, Dir: l.dir}.String()}}
	request := l.tools.Prepare(t.Context(), c, model.Item{Kind: model.ToolCall, CallID: "k", Name: tool, Arguments: arguments})
	if create := request.Create; create != nil {
		if len(create.ConversationID) != 36 {
			t.Errorf("the new conversation has the id %q", create.ConversationID)
		}
		create.ConversationID = ""
	}
	return request
}

func pointer[T any](v T) *T { return &v }

// What calls ask for.
func TestPrepare(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	image := "data:image/png;base64," + base64.StdEncoding.EncodeToString([]byte(png))
	for _, tc := range []struct {
		tool, arguments string
		want            session.Request
	}{
		{"conv.create", `{"user_instruction":"go"}`, session.Request{Create: &session.Create{UserInstruction: pointer("go")}}},
		{
			"conv.create", `{"items":[{"type":"text","text":"a"},{"type":"image","image_url":"https://example.com/a.png"},{"type":"local_image","path":"a.png"}]}`,
			session.Request{Create: &session.Create{Items: []session.Part{{Text: "a"}, {ImageURL: "https://example.com/a.png"}, {ImageURL: image}}}},
		},
		{"conv.create", `{"user_instruction":"go","base_instruction_text":""}`, session.Request{Create: &session.Create{UserInstruction: pointer("go"), Base: pointer("")}}},
		{"conv.create", `{"user_instruction":"go","base_instruction_file":"base.md"}`, session.Request{Create: &session.Create{UserInstruction: pointer("go"), Base: pointer("Below.")}}},
		{"conv.create", `{"user_instruction":"go","base_instruction_file":"../base.md"}`, session.Request{Create: &session.Create{UserInstruction: pointer("go"), Base: pointer("Be brief.\n")}}},
		{"conv.create", `{"user_instruction":"go","base_instruction_file":"../empty.md"}`, session.Request{Create: &session.Create{UserInstruction: pointer("go"), Base: pointer("")}}},
		{"conv.create", `{"user_instruction":"go","base_instruction_file":"../full.md"}`, session.Request{Create: &session.Create{UserInstruction: pointer("go"), Base: pointer(strings.Repeat("x", 1<<20))}}},
		{"conv.create", fmt.Sprintf(`{"user_instruction":"go","base_instruction_file":%q}`, filepath.Join(l.root, "base.md")), session.Request{Create: &session.Create{UserInstruction: pointer("go"), Base: pointer("Be brief.\n")}}},
		{"conv.create", `{"user_instruction":"go","mcp_allowlist":[]}`, session.Request{Create: &session.Create{UserInstruction: pointer("go"), MCPAllowlist: []string{}}}},
		{"conv.create", `{"user_instruction":"go","mcp_allowlist":["a","b/c"],"title":"T","internal_tools":{"include_plan_tool":true,"include_conv_tools":false}}`, session.Request{Create: &session.Create{
			UserInstruction: pointer("go"), MCPAllowlist: []string{"a", "b/c"}, Title: "T",
			Internal: session.InternalTools{session.PlanTool: true, session.ConvTools: false},
		}}},
		{"conv.create", `{"user_instruction":"go","budget":{"tokens":9,"tool_calls":2,"seconds":60},"wait_ms":5}`, session.Request{Create: &session.Create{
			UserInstruction: pointer("go"), Budget: session.Budget{Tokens: 9, Calls: 2, Deadline: noon.Add(time.Minute)},
		}}},
		{"conv.send", `{"conversation_id":"x","text":"hi"}`, session.Request{Send: &session.Send{ConversationID: "x", Text: pointer("hi")}}},
		{"conv.send", `{"conversation_id":"x","items":[{"type":"local_image","path":"a.png"}]}`, session.Request{Send: &session.Send{ConversationID: "x", Items: []session.Part{{ImageURL: image}}}}},
		{"conv.list", ``, session.Request{}},
		{"conv.history", `{"conversation_id":"x"}`, session.Request{History: &session.History{ConversationID: "x"}}},
		{"conv.history", `{"conversation_id":"x","limit":2}`, session.Request{History: &session.History{ConversationID: "x", Limit: pointer(2)}}},
		{"conv.destroy", `{"conversation_id":"x"}`, session.Request{Destroy: &session.Destroy{ConversationID: "x"}}},
	} {
		if diff := cmp.Diff(tc.want, l.prepare(t, tc.tool, tc.arguments)); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", tc.tool, tc.arguments, diff)
		}
	}
}

// Web search is refused where no model has it.
func TestPrepareWebSearch(t *testing.T) {
	t.Parallel()
	const arguments = `{"user_instruction":"go","internal_tools":{"web_search_request":true}}`
	l := newLab(t)
	refused := l.prepare(t, "conv.create", arguments).Refused
	if refused == nil || refused.Code != session.CodeUnavailable || refused.Field != "internal_tools.web_search_request" {
		t.Errorf("without a model that can: %+v", refused)
	}
}

// Every call that cannot be carried out has a code, the argument that is wrong, and a reason that names no place which the
// call did not.
func TestRefusals(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	base := func(file string) string {
		return fmt.Sprintf(`{"user_instruction":"go","base_instruction_file":%q}`, file)
	}
	image := func(file string) string {
		return fmt.Sprintf(`{"conversation_id":"x","items":[{"type":"text","text":"a"},{"type":"local_image","path":%q}]}`, file)
	}
	for _, tc := range []struct {
		tool, arguments string
		code            session.Code
		field, reason   string
	}{
		{"conv.create", `{`, session.CodeInvalidArguments, "", "not one JSON object"},
		{"conv.create", `{}`, session.CodeInvalidArguments, "user_instruction", "one of user_instruction and items is required"},
		{"conv.create", `{"user_instruction":5}`, session.CodeInvalidArguments, "user_instruction", "must be a string"},
		{"conv.create", `{"user_instruction":"go","base_instruction_text":"a","base_instruction_file":"base.md"}`, session.CodeInvalidArguments, "base_instruction_file", "cannot be combined"},
		{"conv.create", `{"user_instruction":"go","tools":[]}`, session.CodeInvalidArguments, "tools", "unknown parameter"},
		{"conv.create", `{"items":[{"type":"video"}]}`, session.CodeInvalidArguments, "items[0].type", "not allowed"},
		{"conv.create", `{"items":[{"type":"text"}]}`, session.CodeInvalidArguments, "items[0].text", "an item of type text needs text"},
		{"conv.create", `{"items":[{"type":"text","text":"a"},{"type":"local_image","path":"a.png","text":"a"}]}`, session.CodeInvalidArguments, "items[1].text", "an item of type local_image has no text"},
		{"conv.create", `{"items":[{"type":"image","image_url":"file:///etc/passwd"}]}`, session.CodeInvalidArguments, "items[0].image_url", "begins with"},
		{"conv.create", `{"items":[{"type":"image","image_url":"data:text/html,x"}]}`, session.CodeInvalidArguments, "items[0].image_url", "begins with"},
		{"conv.create", `{"user_instruction":"` + strings.Repeat("x", 4<<20) + `"}`, session.CodeInvalidArguments, "", "the limit is 4194304"},
		{"conv.create", base(""), session.CodeUnreadableFile, "base_instruction_file", "not a regular file"},
		{"conv.create", base("none.md"), session.CodeUnreadableFile, "base_instruction_file", "cannot be used"},
		{"conv.create", base("../../secret.md"), session.CodeUnreadableFile, "base_instruction_file", "outside of the workspace"},
		{"conv.create", base(filepath.Join(filepath.Dir(l.root), "secret.md")), session.CodeUnreadableFile, "base_instruction_file", "outside of the workspace"},
		{"conv.create", base("../out.md"), session.CodeUnreadableFile, "base_instruction_file", "cannot be used"},
		{"conv.create", base(".."), session.CodeUnreadableFile, "base_instruction_file", "not a regular file"},
		{"conv.create", base("../latin1.md"), session.CodeUnreadableFile, "base_instruction_file", "not UTF-8"},
		{"conv.create", base("../large.md"), session.CodeUnreadableFile, "base_instruction_file", "more than 1048576 bytes"},
		{"conv.send", `{"text":"a"}`, session.CodeInvalidArguments, "conversation_id", "is required"},
		{"conv.send", `{"conversation_id":"x"}`, session.CodeInvalidArguments, "text", "one of text and items is required"},
		{"conv.send", image("../base.md"), session.CodeUnreadableFile, "items[1].path", "not a PNG, JPEG, GIF or WebP image"},
		{"conv.send", image("../huge.png"), session.CodeUnreadableFile, "items[1].path", "more than 8388608 bytes"},
		{
			"conv.send", `{"conversation_id":"x","items":[` + strings.Repeat(`{"type":"local_image","path":"../big.png"},`, 2) + `{"type":"local_image","path":"../big.png"}]}`,
			session.CodeUnreadableFile, "items[2].path", "more than 16777216 bytes",
		},
		{"conv.history", `{"conversation_id":"x","limit":0}`, session.CodeInvalidArguments, "limit", "at least 1"},
		{"conv.history", `{"conversation_id":"x","limit":1.5}`, session.CodeInvalidArguments, "limit", "integer"},
		{"conv.list", `{"all":true}`, session.CodeInvalidArguments, "all", "unknown parameter"},
		{"conv.destroy", `[]`, session.CodeInvalidArguments, "", "not one JSON object"},
		{"conv.wait", `{"task_id":"x"}`, session.CodeUnavailable, "", `has no tool "conv.wait"`},
		{"shell", `{}`, session.CodeUnavailable, "", `has no tool "shell"`},
	} {
		if runtime.GOOS == "windows" && strings.Contains(tc.arguments, "out.md") {
			continue // links need a privilege there
		}
		shown := tc.arguments[:min(len(tc.arguments), 100)]
		refusal := l.prepare(t, tc.tool, tc.arguments).Refused
		switch {
		case refusal == nil:
			t.Errorf("%s %s is not refused", tc.tool, shown)
		case refusal.Code != tc.code || refusal.Field != tc.field || !strings.Contains(refusal.Reason, tc.reason):
			t.Errorf("%s %s: %+v, want %s of %s: %s", tc.tool, shown, refusal, tc.code, tc.field, tc.reason)
		case strings.Contains(refusal.Reason, filepath.Dir(l.root)) && !strings.Contains(tc.arguments, "secret.md"):
			t.Errorf("%s %s: the reason names a place: %s", tc.tool, shown, refusal.Reason)
		}
	}
}

// Where there is no workspace, no file is read.
func TestNoWorkspace(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.root = ""
	refused := l.prepare(t, "conv.create", `{"user_instruction":"go","base_instruction_file":"base.md"}`).Refused
	if refused == nil || refused.Code != session.CodeUnreadableFile || !strings.Contains(refused.Reason, "there is no workspace here") {
		t.Errorf("%+v", refused)
	}
}

// A file is read when the call is prepared, and never again.
func TestFrozen(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	request := l.prepare(t, "conv.create", `{"user_instruction":"go","base_instruction_file":"base.md"}`).Create
	if err := os.Remove(filepath.Join(l.dir, "base.md")); err != nil {
		t.Fatal(err)
	}
	if *request.Base != "Below." {
		t.Errorf("base %q", *request.Base)
	}
}

// FuzzPrepare looks for arguments that panic, that read what is outside of the workspace, or that come out as a request
// which the core of sessions could not take.
func FuzzPrepare(f *testing.F) {
	l := newLab(f)
	for _, seed := range []string{
		`{"user_instruction":"go","base_instruction_file":"../../secret.md"}`,
		`{"items":[{"type":"local_image","path":"../sub/../../secret.md"}]}`,
		`{"conversation_id":"x","text":"a","items":[{"type":"image","image_url":"http://a"}]}`,
		`{"user_instruction":"go","internal_tools":{"include_plan_tool":null},"budget":{"seconds":86400}}`,
		`{"user_instruction":"go","base_instruction_file":"../out.md","mcp_allowlist":[""]}`,
		`{"limit":1e3,"conversation_id":"\ud800"}`,
	} {
		for i := range 5 {
			f.Add(byte(i), seed)
		}
	}
	names := []string{"conv.create", "conv.send", "conv.list", "conv.history", "conv.destroy"}
	encoded := base64.StdEncoding.EncodeToString([]byte(secret))
	f.Fuzz(func(t *testing.T, tool byte, arguments string) {
		var parts []session.Part
		request := l.prepare(t, names[int(tool)%len(names)], arguments)
		if r := request.Refused; r != nil && (r.Code == "" || r.Reason == "") {
			t.Errorf("%q is refused without a reason: %+v", arguments, r)
		}
		if r := request.Send; r != nil {
			parts = r.Items
		}
		if r := request.Create; r != nil {
			parts = r.Items
			if r.ConversationID != "" || r.UserInstruction == nil && r.Items == nil && !strings.Contains(arguments, "items") {
				t.Errorf("%q: %+v", arguments, r)
			}
			if r.Base != nil && strings.Contains(*r.Base, secret) && !strings.Contains(arguments, "7f3a") {
				t.Errorf("%q reads what is outside", arguments)
			}
		}
		for _, p := range parts {
			if strings.HasPrefix(p.ImageURL, "data:image/") && strings.HasSuffix(p.ImageURL, encoded) {
				t.Errorf("%q reads what is outside", arguments)
			}
		}
	})
}
