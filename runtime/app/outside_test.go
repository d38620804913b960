package app_test

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/txtar"
)

// gittools is the project in testdata that wraps git: specs and the files of convgen init.
const (
	repository = "../.."
	gittools   = repository + "/testdata/git"
)

// TestOutside builds a project as a maintainer elsewhere would: a module of its own, convgen init, and specs of five
// tools of git. The program has to answer every call in the same way on the command line, in JP's protocol, and over
// MCP by stdio and HTTP.
func TestOutside(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("what is wrapped is git, which is not here")
	}
	program, home, project := build(t), t.TempDir(), t.TempDir()
	// The user's settings of git must not change an answer.
	env := append(os.Environ(), "HOME="+home, "USERPROFILE="+home, "XDG_CONFIG_HOME="+home, "XDG_STATE_HOME="+home, "LC_ALL=C", "TZ=UTC",
		"PATH="+filepath.Dir(program)+string(filepath.ListSeparator)+filepath.Dir(git)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	commit(t, project, env)
	run := func(args ...string) (string, error) {
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Env = project, env
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		err := cmd.Run()
		return out.String(), err
	}
	clients := map[string]*mcp.ClientSession{"stdio": overStdio(t, program, project, env), "http": overHTTP(t, program, project, env)}

	golden := filepath.Join(gittools, "answers.txtar")
	answers, err := txtar.ParseFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, f := range answers.Files {
		want[f.Name] = string(f.Data)
	}
	answers.Files = nil
	called := map[string]bool{}
	for _, tc := range calls() {
		called[tc.tool] = true
		said, err := run("call", tc.tool, tc.arguments)
		if failed := err != nil; failed != tc.fails {
			t.Errorf("%s: call ends with %v:\n%s", tc.name, err, said)
		}
		got := strings.TrimPrefix(said, "error: ")
		answers.Files = append(answers.Files, txtar.File{Name: tc.name, Data: []byte(got)})
		if diff := gocmp.Diff(want[tc.name], got); diff != "" && os.Getenv("UPDATE_GOLDEN") != "1" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
		delete(want, tc.name)

		text, failed := viaJP(t, run, project, tc)
		if text+"\n" != got || failed != tc.fails {
			t.Errorf("%s: JP is told, failed %v: %s\non the command line it is: %s", tc.name, failed, text, got)
		}
		for name, client := range clients {
			text, failed := viaMCP(t, client, tc)
			if text+"\n" != got || failed != tc.fails {
				t.Errorf("%s: over %s it is, failed %v: %s\non the command line it is: %s", tc.name, name, failed, text, got)
			}
		}
	}
	if os.Getenv("UPDATE_GOLDEN") == "1" {
		if err := os.WriteFile(golden, txtar.Format(answers), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for name := range want {
		t.Errorf("%s holds %s, which is no case", golden, name)
	}
	large(t, run)
	fronts(t, run, clients, called)
}

// large asks for a text that is larger than an answer may be: the answer has its beginning and end, and a note about
// the rest.
func large(t *testing.T, run func(...string) (string, error)) {
	t.Helper()
	said, err := run("call", "git_show", `{"revision":"large"}`)
	if err != nil {
		t.Fatal(err, said)
	}
	const note = `(?s)^<git_show untrusted="true">\n  <commit><!\[CDATA\[\ntag large\n.*` +
		` … \d+ characters omitted … .*\+high 18:40\n\n\]\]></commit>\n` +
		`  <note>Showing \d+ of \d+ characters, from the beginning and the end: .*</note>\n</git_show>\n$`
	if !regexp.MustCompile(note).MatchString(said) {
		t.Errorf("the answer is %.200s … %s", said, said[max(0, len(said)-400):])
	}
	if n := len([]rune(said)); n < 39_900 || n > 40_001 {
		t.Errorf("the answer has %d characters", n)
	}
}

// call is a call of a tool.
type call struct {
	name, tool, arguments string
	fails                 bool
}

func calls() []call {
	return []call{
		{name: "log", tool: "git_log", arguments: `{}`},
		{name: "log of paths, and what is repaired", tool: "git_log", arguments: `{"paths":"docs","limit":"1000"}`},
		{name: "log of an author", tool: "git_log", arguments: `{"author":"Grace","limit":1}`},
		{name: "log of a revision that is a flag", tool: "git_log", arguments: `{"revision":"--output=stolen"}`, fails: true},
		{name: "log with arguments that are wrong", tool: "git_log", arguments: `{"limt":5,"revision":""}`, fails: true},
		{name: "show", tool: "git_show", arguments: `{"revision":"HEAD~1"}`},
		{name: "show without a patch", tool: "git_show", arguments: `{"patch":false}`},
		{name: "show nothing", tool: "git_show", arguments: `{"revision":"nowhere"}`, fails: true},
		{name: "blame", tool: "git_blame", arguments: `{"path":"docs/tide tables.txt"}`},
		{name: "blame from a line", tool: "git_blame", arguments: `{"path":"docs/tide tables.txt","from":2}`},
		{name: "grep", tool: "git_grep", arguments: `{"pattern":"tide"}`},
		{name: "grep for a regular expression", tool: "git_grep", arguments: `{"pattern":"^(high|low)","regexp":true,"paths":["docs"]}`},
		{name: "grep for a flag", tool: "git_grep", arguments: `{"pattern":"--help"}`},
		{name: "grep finds nothing", tool: "git_grep", arguments: `{"pattern":"needle"}`},
		{name: "status", tool: "git_status", arguments: `{}`},
		{name: "status by a former name", tool: "git_changes", arguments: `{}`},
	}
}

// build builds the program in a new module with convgen init and the specs in testdata, and returns its path.
func build(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	here, err := filepath.Abs(repository)
	if err != nil {
		t.Fatal(err)
	}
	// The new module requires the same modules as this one, so that the go command works offline.
	get := exec.Command("go", "list", "-deps", "./...")
	get.Dir = here
	if out, err := get.CombinedOutput(); err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	mod := read(t, filepath.Join(here, "go.mod"))
	mod = read(t, filepath.Join(gittools, "go.mod")) + mod[strings.Index(mod, "\nrequire "):]
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o644); err != nil {
		t.Fatal(err)
	}
	copyFile(t, filepath.Join(here, "go.sum"), filepath.Join(dir, "go.sum"))
	goCommand(t, dir, "mod", "edit", "-replace=github.com/convtools/convtools="+here)
	goCommand(t, dir, "run", "github.com/convtools/convtools/cmd/convgen", "init")
	for _, name := range []string{"tools.toml", "main.go", "specs/git/log.toml"} {
		if diff := gocmp.Diff(read(t, filepath.Join(gittools, name)), read(t, filepath.Join(dir, name))); diff != "" {
			t.Errorf("%s, as in testdata and as convgen init writes it (-want +got):\n%s", name, diff)
		}
	}
	for _, tool := range []string{"show", "blame", "grep", "status"} {
		name := filepath.Join("specs", "git", tool+".toml")
		copyFile(t, filepath.Join(gittools, name), filepath.Join(dir, name))
	}
	goCommand(t, dir, "generate", "./...")
	for _, name := range []string{"log", "show", "blame", "grep", "status"} {
		doc := read(t, filepath.Join(dir, "generated", "docs", "git_"+name+".md"))
		if !strings.Contains(doc, "\ngittools call git_"+name+" ") || strings.Contains(doc, "convtools") {
			t.Errorf("the documentation of git_%s does not have calls of gittools:\n%s", name, doc)
		}
	}
	goCommand(t, dir, "vet", "./...")
	program := filepath.Join(dir, "gittools")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	goCommand(t, dir, "build", "-ldflags=-s -w", "-o", program, ".")
	return program
}

// goCommand runs the go command offline.
func goCommand(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// commit makes a repository with fixed hashes.
func commit(t *testing.T, dir string, env []string) {
	t.Helper()
	git := func(now string, args ...string) {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(slices.Clone(env), "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_DATE="+now, "GIT_COMMITTER_DATE="+now,
			"GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	write := func(name, text string) {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git("", "init", "-q", "--object-format=sha1", "--initial-branch=main")
	for key, value := range map[string]string{"core.abbrev": "7", "core.autocrlf": "false", "commit.gpgsign": "false", "core.hooksPath": "/dev/null"} {
		git("", "config", key, value)
	}
	write("docs/tide tables.txt", "high 06:12\n<low> 12:20 ]]>\n")
	git("", "add", ".")
	git("2026-01-02T03:04:05Z", "commit", "-q", "--author=Ada <ada@example.com>", "--message=Add tide tables")
	write("docs/tide tables.txt", "high 06:12\n<low> 12:25 ]]>\nhigh 18:40\n")
	write("README", "Tables of the tide: no --help for sailors.\n")
	git("", "add", ".")
	git("2026-02-03T04:05:06Z", "commit", "-q", "--author=Grace \x1b[31mHopper <grace@example.com>", "--message=Correct the low tide\n\nIt was read from the wrong column.")
	git("2026-03-04T05:06:07Z", "tag", "-a", "large", "--message="+strings.Repeat("high 06:12\n", 6000))
	write("README", "Tables of the tide.\n")
	write("new & odd.txt", "")
}

// viaJP calls a tool as JP does.
func viaJP(t *testing.T, run func(...string) (string, error), project string, c call) (text string, failed bool) {
	t.Helper()
	root, err := json.Marshal(map[string]string{"root": project})
	if err != nil {
		t.Fatal(err)
	}
	said, err := run("jp-tool", string(root), fmt.Sprintf(`{"name":%q,"arguments":%s}`, c.tool, c.arguments))
	if err != nil {
		t.Fatal(err)
	}
	var outcome struct{ Type, Content, Message string }
	if err := json.Unmarshal([]byte(said), &outcome); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	return cmp.Or(outcome.Content, outcome.Message), outcome.Type == "error"
}

// viaMCP calls a tool over MCP.
func viaMCP(t *testing.T, client *mcp.ClientSession, c call) (text string, failed bool) {
	t.Helper()
	result, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: c.tool, Arguments: json.RawMessage(c.arguments)})
	if err != nil {
		t.Fatal(err)
	}
	for _, content := range result.Content {
		if part, ok := content.(*mcp.TextContent); ok {
			text += part.Text
		}
	}
	return text, result.IsError
}

func overStdio(t *testing.T, program, dir string, env []string) *mcp.ClientSession {
	t.Helper()
	cmd := exec.Command(program, "mcp")
	cmd.Dir, cmd.Env = dir, env
	return connect(t, &mcp.CommandTransport{Command: cmd})
}

// overHTTP starts a server and reads its address from standard error.
func overHTTP(t *testing.T, program, dir string, env []string) *mcp.ClientSession {
	t.Helper()
	cmd := exec.Command(program, "mcp", "--http", "127.0.0.1:0")
	cmd.Dir, cmd.Env = dir, env
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	line, err := bufio.NewReader(stderr).ReadString('\n')
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "gittools: MCP at ")
	if err != nil || !ok {
		t.Fatalf("the server says %q, %v", line, err)
	}
	return connect(t, &mcp.StreamableClientTransport{Endpoint: address})
}

func connect(t *testing.T, transport mcp.Transport) *mcp.ClientSession {
	t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() }) // a server that was killed has no answer to that
	return session
}

// fronts checks the fronts that call no tool.
func fronts(t *testing.T, run func(...string) (string, error), clients map[string]*mcp.ClientSession, called map[string]bool) {
	t.Helper()
	tools, err := run("tools")
	if err != nil {
		t.Error(err, tools)
	}
	var names []string
	for line := range strings.Lines(tools) {
		name, _, _ := strings.Cut(line, " ")
		names = append(names, name)
		if !called[name] {
			t.Errorf("%s is not called here", name)
		}
	}
	for name, client := range clients {
		list, err := client.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var listed []string
		for _, tool := range list.Tools {
			listed = append(listed, tool.Name)
		}
		if diff := gocmp.Diff(names, listed); diff != "" {
			t.Errorf("tools over %s (-command line +MCP):\n%s", name, diff)
		}
		if info := client.InitializeResult().ServerInfo; info.Name != "gittools" || info.Version != "0.1.0" {
			t.Errorf("over %s it is %+v", name, info)
		}
	}
	for _, tc := range []struct{ args, want string }{
		{"version", "gittools 0.1.0\n"},
		{"install claude-code --yes", `"command": "`},
		{"install codex --dry-run", "[mcp_servers.gittools]"},
		{"doctor", "answers with 5 tools in"},
		{"doctor --json", `"gittools": "0.1.0"`},
		{"uninstall claude-code --yes", "Removed "},
		{"help call", "gittools call git_log '{\"limit\": 5}'\n"},
		{"completion bash", "__start_gittools"},
		{"__complete call git_", "git_blame\tShow which commit"},
	} {
		said, err := run(strings.Fields(tc.args)...)
		if err != nil || !strings.Contains(said, tc.want) {
			t.Errorf("gittools %s: %v; %q is not in:\n%s", tc.args, err, tc.want, said)
		}
		if strings.Contains(said, "convtools") {
			t.Errorf("gittools %s speaks of convtools:\n%s", tc.args, said)
		}
	}
	if said, err := run("call", "git_lgo"); err == nil || !strings.Contains(said, "Did you mean git_log?") {
		t.Errorf("an unknown tool: %v\n%s", err, said)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	if err := os.WriteFile(to, []byte(read(t, from)), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(data), "\r\n", "\n")
}
