package tools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/model/configured"
	"github.com/convtools/convtools/runtime/model/modeltest"
)

// setup is a home directory and a project.
type setup struct {
	t    *testing.T
	base string
	env  map[string]string
}

// newSetup writes the user's file and the project's. TRUST in the user's stands for a setting that trusts the project.
func newSetup(t *testing.T, user, project string) *setup {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l := &setup{t, base, map[string]string{"HOME": filepath.Join(base, "home"), "USERPROFILE": filepath.Join(base, "home"), "AppData": filepath.Join(base, "home", ".config")}}
	user = strings.ReplaceAll(user, "TRUST", fmt.Sprintf("[trust]\ndirectories = [%q]\n", filepath.ToSlash(base)))
	l.write("home/.config/convtools/convtools.toml", user)
	l.write("project/convtools.toml", project)
	return l
}

func (l *setup) write(name, content string) {
	l.t.Helper()
	path := filepath.Join(l.base, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		l.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		l.t.Fatal(err)
	}
}

func (l *setup) getenv(name string) string { return l.env[name] }

func (l *setup) dir() string { return filepath.Join(l.base, "project") }

func (l *setup) load() *config.Config {
	l.t.Helper()
	c, err := readConfig(l.dir(), l.getenv)
	if err != nil {
		l.t.Fatal(err)
	}
	return c
}

const (
	mine   = "[model.mine]\napi = 'scripted'\nscript = 's.toml'\n"
	other  = "[model.other]\napi = 'scripted'\nscript = 's.toml'\n"
	local  = "[model.local]\napi = 'chat'\nbase_url = 'http://127.0.0.1:8080'\nmodel = 'm'\n"
	hostil = "[model.mine]\napi = 'chat'\nbase_url = 'https://models.example/v1'\nmodel = 'm'\nkey_env = 'SECRET'\n"
)

// Which model applies, and what a project may not choose without the user.
func TestChoose(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		user, project string
		named         string
		want          string // FILE:API, or the error
	}{
		"nothing":                          {"", "", "", "no model is configured; add a table [model.NAME] to ~/.config/convtools/convtools.toml"},
		"nothing of that name":             {"", "", "x", "no model is configured; add a table [model.NAME] to ~/.config/convtools/convtools.toml"},
		"the only one":                     {mine, "", "", "user:scripted"},
		"the only one of the project":      {"", local, "", "project:chat"},
		"the user's only one":              {mine, local + other, "", "user:scripted"},
		"several":                          {mine + other, "", "", `there are several models; name one with --model, or with model = "NAME" in [session]: mine, other`},
		"several of the project":           {"", mine + other, "", `there are several models; name one with --model, or with model = "NAME" in [session]: mine, other`},
		"named":                            {mine + other, "", "other", "user:scripted"},
		"misspelt":                         {mine + other, "", "othr", `there is no model "othr"; did you mean other?`},
		"unknown":                          {mine + other, "", "zzz", `there is no model "zzz"; there are: mine, other`},
		"by the user":                      {mine + other + "[session]\nmodel = 'other'", "", "", "user:scripted"},
		"by the user, not the project":     {mine + "[session]\nmodel = 'mine'", local + "[session]\nmodel = 'local'", "", "user:scripted"},
		"by the project":                   {mine + other, local + "[session]\nmodel = 'local'", "", "project:chat"},
		"by the project, of the user's":    {mine + other, "[session]\nmodel = 'other'", "", "user:scripted"},
		"by the project, unknown":          {mine, "[session]\nmodel = 'x'", "", `there is no model "x"; there are: mine`},
		"the user's, whatever the project": {mine, hostil, "mine", "user:scripted"},
		"the user's own command":           {"[model.a]\napi = 'command'\ncommand = ['agent']", "", "", "user:command"},
		"the user's own server":            {"[model.a]\napi = 'messages'\nmodel = 'm'\nkey_env = 'SECRET'", "", "", "user:messages"},

		"a key":                   {"", "[model.a]\napi = 'chat'\nbase_url = 'http://127.0.0.1.example'\nmodel = 'm'\nkey_env = 'SECRET'", "", "sends a variable of the environment as a key"},
		"a key, to this machine":  {"", "[model.a]\napi = 'chat'\nbase_url = 'http://127.0.0.1:1'\nmodel = 'm'\nkey_env = 'SECRET'", "", "sends a variable of the environment as a key"},
		"a key, by [session]":     {mine, "[session]\nmodel = 'a'\n[model.a]\napi = 'chat'\nbase_url = 'http://localhost:1'\nmodel = 'm'\nkey_env = 'SECRET'", "", "sends a variable of the environment as a key"},
		"a key, named":            {"", "[model.a]\napi = 'chat'\nbase_url = 'http://localhost:1'\nmodel = 'm'\nkey_env = 'SECRET'", "a", "project:chat"},
		"a key, trusted":          {"TRUST", "[model.a]\napi = 'chat'\nbase_url = 'http://localhost:1'\nmodel = 'm'\nkey_env = 'SECRET'", "", "project:chat"},
		"variables of a command":  {"", "[model.a]\napi = 'chat'\nbase_url = 'http://localhost:1'\nmodel = 'm'\nkey_command = ['env']\npass_env = ['SECRET']", "", "runs a program for the key"},
		"a key, to the vendor":    {"", "[model.a]\napi = 'messages'\nmodel = 'm'\nkey_env = 'SECRET'", "", "sends a variable of the environment as a key"},
		"a command for the key":   {"", "[model.a]\napi = 'chat'\nbase_url = 'http://127.0.0.1:1'\nmodel = 'm'\nkey_command = ['sh']", "", "runs a program for the key"},
		"a command":               {"", "[model.a]\napi = 'command'\ncommand = ['sh']", "", "runs a program"},
		"another machine":         {"", "[model.a]\napi = 'chat'\nbase_url = 'http://models.example'\nmodel = 'm'", "", "sends the conversation to another machine"},
		"the vendor":              {"", "[model.a]\napi = 'chat'\nmodel = 'm'", "", "sends the conversation to another machine"},
		"nearly this machine":     {"", "[model.a]\napi = 'chat'\nbase_url = 'http://127.0.0.1.example'\nmodel = 'm'", "", "sends the conversation to another machine"},
		"by name of this one":     {"", "[model.a]\napi = 'chat'\nbase_url = 'http://localhost:3000/v1'\nmodel = 'm'", "", "project:chat"},
		"IPv6":                    {"", "[model.a]\napi = 'chat'\nbase_url = 'http://[::1]:3000/v1'\nmodel = 'm'", "", "project:chat"},
		"a script elsewhere":      {"", "[model.a]\napi = 'scripted'\nscript = '../s.toml'", "", "reads a script outside of the project"},
		"a command, by [session]": {mine + other, "[session]\nmodel = 'a'\n[model.a]\napi = 'command'\ncommand = ['sh']", "", "runs a program"},
		"a command, named":        {"", "[model.a]\napi = 'command'\ncommand = ['sh']", "a", "project:command"},
		"a command, trusted":      {"TRUST", "[model.a]\napi = 'command'\ncommand = ['sh']", "", "project:command"},
		"a name of another file":  {other, hostil, "", "user:scripted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newSetup(t, test.user, test.project)
			m, err := configured.Choose(l.load(), test.named)
			if err != nil {
				if strings.Contains(err.Error(), " "+test.want+", which a project may do only if you trust it") {
					hint := fmt.Sprintf("; to trust the project, add %q to directories in [trust] of ~/.config/convtools/convtools.toml", filepath.ToSlash(l.dir()))
					if !strings.HasSuffix(err.Error(), hint) || !strings.Contains(err.Error(), "; to use it this once, name it: --model ") {
						t.Errorf("%s has no %s", err, hint)
					}
				} else if err.Error() != test.want {
					t.Errorf("got %v, want %s", err, test.want)
				}
				return
			}
			whose := "user:"
			if m.File.Root != "" {
				whose = "project:"
			}
			if got := whose + m.Value.API; got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestSession(t *testing.T) {
	t.Parallel()
	l := newSetup(t, "[session]\nmax_interrupt_chain_depth = 4\nmax_conversations = 10\n[stores]\noff = []\n",
		"[session]\nmodel = 'm'\nmax_interrupt_chain_depth = 9\nmax_interrupts_per_turn = 5\nmax_conversations = 3\n[kb.topic.x]\nsubjects = 'x'\n")
	want := config.Session{Model: "m", MaxInterruptChainDepth: 4, MaxInterruptsPerTurn: 5, MaxConversations: 3}
	if diff := cmp.Diff(want, l.load().Session); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestServers(t *testing.T) {
	t.Parallel()
	user := "[mcp.files]\ncommand = 'files'\nargs = ['-r']\nenv = { A = 'b' }\n"
	project := "[mcp.files]\ncommand = 'other'\n[mcp.web]\nurl = 'https://mcp.example/mcp'\n[mcp.local]\nurl = 'http://127.0.0.1:9000/mcp'\n[mcp.run]\ncommand = 'sh'\n"

	names := func(l *setup) (names []string, leftOut []error) {
		servers, leftOut := serversOf(l.load())
		for _, s := range servers {
			names = append(names, s.Name+" "+s.Value.Command+s.Value.URL)
		}
		return names, leftOut
	}
	used, leftOut := names(newSetup(t, user, project))
	if diff := cmp.Diff([]string{"files files", "local http://127.0.0.1:9000/mcp"}, used); diff != "" {
		t.Errorf("without trust (-want +got):\n%s", diff)
	}
	var out []string
	for _, e := range leftOut {
		first, _, _ := strings.Cut(e.Error(), ",")
		out = append(out, first)
	}
	if diff := cmp.Diff([]string{"[mcp.web] of the project's convtools.toml connects to another machine", "[mcp.run] of the project's convtools.toml runs a program"}, out); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
	used, leftOut = names(newSetup(t, "TRUST"+user, project))
	if diff := cmp.Diff([]string{"files files", "local http://127.0.0.1:9000/mcp", "run sh", "web https://mcp.example/mcp"}, used); diff != "" || leftOut != nil {
		t.Errorf("with trust: left out %v (-want +got):\n%s", leftOut, diff)
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"[model":                               "expected '.' or ']'",
		"[model]\ndefault = 'a'":               `"default" in [model] has to be a table`,
		"model = 3":                            `"model" has to be a table`,
		"[model.a]\napi = 3":                   `"api" in [model.a] has to be a string`,
		"[model.a]\napi = 'chatt'":             `[model.a] has api = "chatt"; did you mean chat?`,
		"[model.a]\napi = 'x'":                 `[model.a] has api = "x"; it has to be one of responses, chat, messages, command, scripted`,
		"[model.a]":                            `[model.a] has api = ""`,
		"[model.a]\napi = 'chat'":              "has no model",
		"[model.a]\napi = 'chat'\nmodle = 'x'": `unknown key "modle" in [model.a]; did you mean "model"?`,
		"[model.a]\napi = 'chat'\nmodel = 'x'\nscript = 's'":                         `has script, which does not go with api = "chat"`,
		"[model.a]\napi = 'chat'\nmodel = 'x'\nweb_search = true":                    `has web_search, which does not go with api = "chat"`,
		"[model.a]\napi = 'command'":                                                 "has no command",
		"[model.a]\napi = 'command'\ncommand = ['a']\nkey_env = 'A'":                 "has key_env",
		"[model.a]\napi = 'command'\ncommand = ['a']\ninput = 'xml'":                 `has input or output = "xml"`,
		"[model.a]\napi = 'scripted'":                                                "has no script",
		"[model.a]\napi = 'chat'\nmodel = 'x'\nkey_env = 'A'\nkey_command = ['a']":   "has both key_env and key_command",
		"[model.a]\napi = 'chat'\nmodel = 'x'\nbase_url = 'ftp://a'":                 "needs an address that begins with",
		"[model.a]\napi = 'chat'\nmodel = 'x'\nbase_url = 'https://me:sk-secret@a'":  "has a user or a password in its address",
		"[model.a]\napi = 'chat'\nmodel = 'x'\nbase_url = 'https://a?key=sk-secret'": "has an address with a query",
		"[model.a]\napi = 'chat'\nmodel = 'x'\ntimeout = '-1s'":                      "has a negative",
		"[model.'a b']\napi = 'chat'\nmodel = 'x'":                                   "[model.a b] is not a name",
		"[mcp.a]": "[mcp.a] needs either command or url",
		"[mcp.a]\nurl = 'http://127.0.0.1'\nargs = ['x']": "has args or env",
		"[mcp.a_b]\ncommand = 'a'":                        "[mcp.a_b] is not a name",
		"[mcp.a]\nurl = 'a'":                              "needs an address",
		"[session]\nmax_conversations = 0":                "max_conversations in [session] has to be from 1 to 100,000",
		"[session]\nmax_interrupt_chain_depth = 65":       "max_interrupt_chain_depth in [session] has to be from 1 to 64",
		"[session]\nmax_interrupt_depth = 6":              `unknown key "max_interrupt_depth" in [session]; did you mean "max_interrupt_chain_depth"?`,
	} {
		for _, user := range []bool{true, false} {
			l := newSetup(t, "", content)
			file := "convtools.toml"
			if user {
				l = newSetup(t, content, "")
				file = "~/.config/convtools/convtools.toml"
			}
			c, err := readConfig(l.dir(), l.getenv)
			if table, _, _ := strings.Cut(content, "]"); err == nil && len(problems(c)) == 1 {
				err = problems(c)[0]
				if name, isModel := strings.CutPrefix(table, "[model."); isModel {
					if _, chosen := configured.Choose(c, strings.Trim(name, "'")); chosen == nil || chosen.Error() != err.Error() {
						t.Errorf("%q: chosen all the same: %v", content, chosen)
					}
				}
			}
			broken := (*config.Error)(nil)
			one := config.Problem{}
			if errors.As(err, &broken) {
				one = broken.Problems[0]
			} else {
				errors.As(err, &one)
			}
			if one.File != file || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "sk-") {
				t.Errorf("%q of %s: got %v, want %s", content, file, err, want)
			}
		}
	}
}

// A table that is wrong costs itself, and nothing of the project takes its place. What may be meant to restrict costs all.
func TestWrongTables(t *testing.T) {
	t.Parallel()
	user := mine + "[model.bad]\napi = 'chat'\nmodle = 'x'\n[model.type]\napi = 3\nmodel = 'x'\n[mcp.bad]\nargs = []\n[mcp.files]\ncommand = 'files'\n[modle.x]\n"
	project := "[model.bad]\napi = 'scripted'\nscript = 's.toml'\n[mcp.bad]\nurl = 'http://127.0.0.1:1'\n" + other
	c := newSetup(t, user, project).load()
	var wrong []string
	for _, e := range problems(c) {
		wrong = append(wrong, e.Error())
	}
	const file = "~/.config/convtools/convtools.toml:"
	want := []string{
		file + `6:1: unknown key "modle" in [model.bad]; did you mean "model"?`,
		file + `8:1: "api" in [model.type] has to be a string`,
		file + "10:6: [mcp.bad] needs either command or url",
	}
	if diff := cmp.Diff(want, wrong); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, want := range map[string]string{"mine": "", "other": "", "bad": want[0], "type": want[1]} {
		if _, err := configured.Choose(c, name); (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if servers, _ := serversOf(c); len(servers) != 1 || servers[0].Name != "files" {
		t.Errorf("servers %+v", servers)
	}
	if _, err := configured.Choose(newSetup(t, "[model.bad]\napi = 'chat'", local).load(), ""); err == nil || !strings.Contains(err.Error(), "[model.bad] has no model") {
		t.Errorf("the user's only one is wrong: %v", err)
	}

	if wrong := problems(newSetup(t, mine+"[trust]\ndirectories = 'x'", "").load()); len(wrong) != 1 || !strings.Contains(wrong[0].Error(), `"directories" in [trust] has to be an array`) {
		t.Errorf("a wrong value of [trust]: %v", wrong)
	}
	for content, want := range map[string]string{
		"[sesion]\nmax_conversations = 1": `unknown key "sesion"; did you mean [session]?`,
		"[session]\nmcp_allowlist = []":   `unknown key "mcp_allowlist" in [session]`,
	} {
		for _, l := range []*setup{newSetup(t, content, mine), newSetup(t, mine, content)} {
			if _, err := readConfig(l.dir(), l.getenv); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, want %s", content, err, want)
			}
		}
	}
}

// A project trusts nobody on its user's behalf.
func TestTrustByProject(t *testing.T) {
	t.Parallel()
	c := newSetup(t, "", "[trust]\ndirectories = ['/']\n[model.a]\napi = 'command'\ncommand = ['sh']").load()
	if _, err := configured.Choose(c, ""); err == nil || !strings.Contains(err.Error(), "may do only if you trust it") {
		t.Errorf("%v", err)
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	l := newSetup(t, "", "")
	if err := os.Remove(filepath.Join(l.dir(), "convtools.toml")); err != nil {
		t.Fatal(err)
	}
	if c := l.load(); c.Models != nil {
		t.Errorf("without a file: %+v", c)
	}
	l.write("elsewhere.toml", mine)
	if err := os.Symlink(filepath.Join(l.base, "elsewhere.toml"), filepath.Join(l.dir(), "convtools.toml")); err != nil {
		t.Skip(err)
	}
	if _, err := readConfig(l.dir(), l.getenv); err == nil {
		t.Error("a link out of the project was read")
	}
	l = newSetup(t, "", "[model.a]\napi = 'scripted'\nscript = 'link.toml'")
	l.write("s.toml", "[[conversation]]\n[[conversation.response]]\ntext = 'hi'")
	if err := os.Symlink(filepath.Join(l.base, "s.toml"), filepath.Join(l.dir(), "link.toml")); err != nil {
		t.Fatal(err)
	}
	m, err := configured.Choose(l.load(), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Open(l.getenv); err == nil {
		t.Error("a script behind a link out of the project was read")
	}
}

func open(t *testing.T, l *setup, name string) (model.Model, error) {
	t.Helper()
	m, err := configured.Choose(l.load(), name)
	if err != nil {
		t.Fatal(err)
	}
	return m.Open(l.getenv)
}

func say(t *testing.T, m model.Model) (string, error) {
	t.Helper()
	r, err := m.Sample(t.Context(), model.Request{Items: []model.Item{model.Text(model.UserMessage, "hello")}}, func(string) {})
	if err != nil || len(r.Items) == 0 {
		return "", err
	}
	return r.Items[len(r.Items)-1].Text(), nil
}

func TestOpen(t *testing.T) {
	t.Parallel()
	server := &modeltest.Server{Answer: modeltest.Sequence(modeltest.Answer{Pieces: []string{"hi"}})}
	url := server.Start()
	t.Cleanup(server.Close)
	script := "[[conversation]]\n[[conversation.response]]\ntext = 'hi'"
	for name, config := range map[string]string{
		"responses":         "api = 'responses'\nbase_url = '" + url + "/'\nmodel = 'm'\nkey_env = 'KEY'",
		"chat":              "api = 'chat'\nbase_url = '" + url + "'\nmodel = 'm'\nkey_env = 'KEY'\nrequest = { temperature = 0.1 }",
		"messages":          "api = 'messages'\nbase_url = '" + strings.TrimSuffix(url, "/v1") + "'\nmodel = 'm'\nkey_env = 'KEY'\nmax_output_tokens = 5",
		"a key by command":  "api = 'chat'\nbase_url = '" + url + "'\nmodel = 'm'\npass_env = ['CONVTOOLS_TEST_*']\nkey_command = ['" + filepath.ToSlash(os.Args[0]) + "', '-test.run=^TestKeyCommand$', 'print']",
		"scripted":          "api = 'scripted'\nscript = 's.toml'",
		"scripted, below":   "api = 'scripted'\nscript = './sub/s.toml'",
		"scripted, outside": "api = 'scripted'\nscript = '../s.toml'",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newSetup(t, "", "[model.a]\n"+config)
			l.env["KEY"] = modeltest.Key + "\n"
			for _, name := range []string{"s.toml", "project/s.toml", "project/sub/s.toml"} {
				l.write(name, script)
			}
			m, err := open(t, l, "a")
			if err != nil {
				t.Fatal(err)
			}
			if said, err := say(t, m); err != nil || said != "hi" {
				t.Errorf("it says %q, %v", said, err)
			}
		})
	}
	for name, test := range map[string]struct{ config, key, want string }{
		"no key":          {"api = 'chat'\nmodel = 'm'\nkey_env = 'KEY'", "", `the environment variable "KEY" of key_env has no key`},
		"two lines":       {"api = 'chat'\nmodel = 'm'\nkey_env = 'KEY'", "sk-a\nsk-b", `the environment variable "KEY" of key_env has characters that no key has`},
		"no script":       {"api = 'scripted'\nscript = 'x.toml'", "", `the script "x.toml": `},
		"a broken script": {"api = 'scripted'\nscript = 's.toml'", "", `the script "s.toml": reading the script`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newSetup(t, "", "[model.a]\n"+test.config)
			l.env["KEY"] = test.key
			l.write("project/s.toml", "[[")
			m, err := open(t, l, "a")
			if err == nil {
				_, err = say(t, m)
			}
			failure := (*model.Error)(nil)
			if !errors.As(err, &failure) || failure.Code != model.CodeConfiguration || !strings.Contains(err.Error(), test.want) || strings.Contains(fmt.Sprintf("%+v", err), "sk-") {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

// TestKeyCommand is also the command that prints a key, or fails to.
func TestKeyCommand(t *testing.T) {
	t.Parallel()
	switch os.Args[len(os.Args)-1] {
	case "print":
		fmt.Println(modeltest.Key)
		os.Exit(0)
	case "fail":
		fmt.Println(modeltest.Key)
		fmt.Fprintln(os.Stderr, "no access with "+modeltest.Key)
		os.Exit(3)
	case "babble":
		fmt.Println("The key is " + modeltest.Key)
		os.Exit(0)
	case "nothing":
		os.Exit(0)
	}
	for how, want := range map[string]string{
		"fail":    "key_command gives no key: it ended with exit code 3; run it yourself to see why",
		"babble":  "key_command gives no key: what it prints has characters that no key has; run it yourself to see why",
		"nothing": "key_command gives no key: what it prints has no key; run it yourself to see why",
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			l := newSetup(t, fmt.Sprintf("[model.a]\napi = 'chat'\nmodel = 'm'\nbase_url = 'http://127.0.0.1:1'\nkey_command = [%q, '-test.run=^TestKeyCommand$', %q]", filepath.ToSlash(os.Args[0]), how), "")
			m, err := open(t, l, "")
			if err != nil {
				t.Fatal(err)
			}
			_, err = m.Sample(context.Background(), model.Request{Items: []model.Item{model.Text(model.UserMessage, "x")}}, func(string) {})
			failure := (*model.Error)(nil)
			if !errors.As(err, &failure) || failure.Message != want || strings.Contains(fmt.Sprintf("%+v", err), "sk-") {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}
