package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// answer is the answer of one front end to a call.
type answer struct {
	Text   string
	Failed bool
}

// Every example of every tool gives the same answer with convgen try, convgen call, an MCP client and JP, whether the
// program answers, prints without end, hangs or dies.
func TestProgramsThroughEveryFront(t *testing.T) {
	t.Parallel()
	const stopped = "until the program was stopped, from the beginning and the end of it"
	type wanted struct {
		program string   // the program that must be installed
		texts   []string // texts in the answer of each example
		varies  bool     // the amount printed before the program is stopped varies
	}
	for project, tools := range map[string]map[string]wanted{
		"programs": {
			"curl_fetch":    {program: "curl", texts: []string{"me asks for /"}},
			"ffprobe_media": {program: "sh", texts: []string{`"title":"Director's \"cut\" <b>"`}},
			"find_files":    {program: "find", texts: []string{"./specs/find/files.toml\n"}},
			"git_search":    {program: "git", texts: []string{" the second\n"}},
			"grep_text":     {program: "grep", texts: []string{"[cli.find]"}},
			"jq_pick":       {program: "jq", texts: []string{`{"value":3}`}},
			"kubectl_pods":  {program: "sh", texts: []string{`<pod name="cart-58bd" phase="Pending">`, `<pods untrusted="true"/>`}},
			"seq_numbers":   {program: "seq", texts: []string{stopped + ": more would take this answer over its limit of 20000 characters. Ask for less with last"}, varies: true},
			"sort_lines":    {program: "sort", texts: []string{"a\nb\n"}},
			"sqlite_query":  {program: "sqlite3", texts: []string{`{"name":"<ink>","price":12}`}},
			"tar_list":      {program: "tar", texts: []string{"one.txt\ntwo.txt\n"}},
			"yes_forever":   {program: "yes", texts: []string{stopped}, varies: true},
		},
		"programs_failing": {
			"killed_half":   {program: "sh", texts: []string{"The last that it printed: half of it"}},
			"sleep_forever": {program: "sleep", texts: []string{"did not finish within 1s"}},
		},
	} {
		t.Run(project, func(t *testing.T) {
			t.Parallel()
			p := copyProject(t, project)
			s := &served{dir: p.dir, stderr: os.Stderr}
			s.load()
			if len(s.tools) != len(tools) {
				t.Errorf("%d tools, %d wanted", len(s.tools), len(tools))
			}
			session := p.connect(t)
			var calls []toolCall
			var want []answer
			for _, tool := range s.sorted() {
				t.Run(tool.Name, func(t *testing.T) {
					expected := tools[tool.Name]
					if _, err := exec.LookPath(expected.program); err != nil {
						t.Skipf("%s is not here", expected.program)
					}
					if len(tool.examples) != len(expected.texts) {
						t.Fatalf("%d examples, %d wanted", len(tool.examples), len(expected.texts))
					}
					tried := p.try(t, tool.Name, tool.examples)
					for i, arguments := range tool.examples {
						answers := map[string]answer{
							"try":     tried[i],
							"call":    p.call(t, tool.Name, arguments),
							"jp-tool": p.jpTool(t, tool.Name, arguments),
							"MCP":     callOf(t, session, tool.Name, arguments),
						}
						for front, got := range answers {
							if !strings.Contains(got.Text, expected.texts[i]) || got.Failed != (project == "programs_failing") {
								t.Errorf("%s %s: failed %t, %.500s", front, arguments, got.Failed, got.Text)
							}
							if (front == "call" || front == "try") && got.Failed {
								continue // people see the whole command line
							}
							if diff := cmp.Diff(answers["MCP"], got); diff != "" && !expected.varies {
								t.Errorf("MCP and %s (-MCP +%s):\n%s", front, front, diff)
							}
						}
						if !expected.varies {
							calls = append(calls, toolCall{tool.Name, json.RawMessage(arguments)})
							want = append(want, answers["MCP"])
						}
					}
				})
			}
			t.Run("Python", func(t *testing.T) {
				if diff := cmp.Diff(want, p.python(t, calls)); diff != "" {
					t.Errorf("the SDK for Go and that for Python (-Go +Python):\n%s", diff)
				}
			})
		})
	}
}

// copied is a copy of a project in testdata, with all tools approved.
type copied struct{ dir, state string }

// copyProject copies a project of testdata, makes the copy a git repository with two commits, starts the web server
// that its tool for curl asks, and approves its tools.
func copyProject(t *testing.T, name string) copied {
	t.Helper()
	p := copied{t.TempDir(), t.TempDir()}
	if err := os.CopyFS(p.dir, os.DirFS(filepath.Join("../../testdata", name))); err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(r.UserAgent() + " asks for " + r.URL.Path))
	}))
	t.Cleanup(web.Close)
	fetch := filepath.Join(p.dir, "specs/curl/fetch.toml")
	if text, err := os.ReadFile(fetch); err == nil {
		if err := os.WriteFile(fetch, []byte(strings.Replace(string(text), "http://localhost:9", web.URL, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"commit", "-q", "--allow-empty", "-m", "the first"}, {"commit", "-q", "--allow-empty", "-m", "the second"}} {
		git := exec.Command("git", append([]string{"-c", "user.name=A", "-c", "user.email=a@example.org"}, args...)...)
		git.Dir = p.dir
		if out, err := git.CombinedOutput(); err != nil {
			t.Logf("git %s: %v, %s", args[0], err, out) // then the test skips the git tool
		}
	}
	if out, err := p.convgen(t, "approve").CombinedOutput(); err != nil {
		t.Fatalf("approve: %v, %s", err, out)
	}
	return p
}

// convgen returns a command that runs this test program as convgen in the copy.
func (p copied) convgen(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Dir, cmd.Env = p.dir, append(os.Environ(), "CONVGEN_MAIN=1", "XDG_STATE_HOME="+p.state, "HOME="+p.state)
	return cmd
}

// try returns the answers that convgen try prints for a tool.
func (p copied) try(t *testing.T, tool string, examples []string) []answer {
	t.Helper()
	out, err := p.convgen(t, "try", tool).Output()
	var list []answer
	rest := string(out)
	for i, arguments := range examples {
		var found bool
		if rest, found = strings.CutPrefix(rest, tool+" "+arguments+"\n"); !found {
			t.Fatalf("try does not show example %d: %.500s", i, rest)
		}
		text := rest
		if i+1 < len(examples) { // the answer ends before the next example
			text, _, _ = strings.Cut(rest, "\n\n"+tool+" ")
			rest = rest[len(text)+len("\n\n"):]
		}
		text, failed := strings.CutPrefix(strings.TrimSuffix(text, "\n\n"), "FAILED: ")
		if failed != (err != nil) {
			t.Errorf("try shows %.100s and ends with %v", text, err)
		}
		list = append(list, answer{text, failed})
	}
	return list
}

// call returns the answer that convgen call prints.
func (p copied) call(t *testing.T, tool, arguments string) answer {
	t.Helper()
	cmd := p.convgen(t, "call", tool, arguments)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return answer{strings.TrimSpace(strings.TrimPrefix(stderr.String(), "error: ")), true}
	}
	return answer{strings.TrimSuffix(string(out), "\n"), false}
}

// jpTool returns the outcome that JP reads.
func (p copied) jpTool(t *testing.T, tool, arguments string) answer {
	t.Helper()
	out, err := p.convgen(t, "jp-tool", `{"root": "."}`, `{"name": "`+tool+`", "arguments": `+arguments+`}`).Output()
	var outcome struct{ Type, Content, Message string }
	if err != nil || json.Unmarshal(out, &outcome) != nil {
		t.Fatalf("jp-tool: %v, %.500s", err, out)
	}
	return answer{outcome.Content + outcome.Message, outcome.Type == "error"}
}

// connect starts convgen serve, and returns a client session with it.
func (p copied) connect(t *testing.T) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: p.convgen(t, "serve")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// toolCall is a call for the Python client.
type toolCall struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
}

// python returns the answers that the client of the Python package mcp gets.
func (p copied) python(t *testing.T, calls []toolCall) []answer {
	t.Helper()
	if exec.Command("python3", "-c", "import mcp").Run() != nil {
		t.Skip("there is no python3 with the package mcp; make clients installs it")
	}
	server := p.convgen(t, "serve")
	environment := map[string]string{}
	for _, variable := range server.Env {
		name, value, _ := strings.Cut(variable, "=")
		environment[name] = value
	}
	plan, err := json.Marshal(map[string]any{"command": server.Path, "args": server.Args[1:], "env": environment, "dir": server.Dir, "calls": calls})
	if err != nil {
		t.Fatal(err)
	}
	client := exec.Command("python3", "testdata/python/calls.py")
	client.Stdin, client.Stderr = strings.NewReader(string(plan)), os.Stderr
	out, err := client.Output()
	var answers []answer
	if err != nil || json.Unmarshal(out, &answers) != nil {
		t.Fatalf("the client in Python: %v, %.500s", err, out)
	}
	return answers
}

func callOf(t *testing.T, session *mcp.ClientSession, tool, arguments string) answer {
	t.Helper()
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
	if err != nil {
		t.Fatal(err)
	}
	return answer{result.Content[0].(*mcp.TextContent).Text, result.IsError}
}
