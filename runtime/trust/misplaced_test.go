package trust_test

import (
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/convtools/convtools/runtime/trust"
)

// Whatever may be meant to restrict is found, wherever it stands, and nothing else is.
func TestMisplaced(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"[store]\nexclude = ['~/a']":                 "store",
		"[Stores]":                                   "Stores",
		"[[stors]]\noff = []":                        "stors",
		"[stored]\nx = 1":                            "stored",
		"exclude = []":                               "exclude",
		"excludes = []":                              "excludes",
		"off = ['codex']":                            "off",
		"[trsut]":                                    "trsut",
		"codex = false":                              "codex",
		"[claude_code]\nenabled = false":             "claude_code",
		"mcp_allowlist = []":                         "mcp_allowlist",
		"allow-list = []":                            "allow-list",
		"[privacy]\nEXCLUDE = []":                    "privacy",
		"[exclusions]\ndirs = []":                    "exclusions",
		"[elsewhere]\nEXCLUDE = []":                  "elsewhere.EXCLUDE",
		"[tool.convtools.stores]":                    "tool.convtools.stores",
		"[[rules]]\na = 1\n[[rules]]\nexclude = 'x'": "rules.exclude",
		"rules = [{a = 1}, [{exclude = 'x'}]]":       "rules.exclude",
		"[index]\nof = true":                         "index.of",
		"[index.stores]":                             "index.stores",
		"[indx]\noff = true":                         "indx.off",
		"[session]\nexclude = []":                    "session.exclude",
		"[session]\nmcp_allowlist = []":              "session.mcp_allowlist",
		"[kb]\nexclude = []":                         "kb.exclude",
		"[kb.stores]":                                "kb.stores",
		"[kb.topic]\nexclude = []":                   "kb.topic.exclude",
		"[kb.topic.a]\nexclude = []":                 "kb.topic.a.exclude",
		"[model]\nexclude = []":                      "model.exclude",
		"[model.a]\nexclude = []":                    "model.a.exclude",
		"[mcp.a]\nstores = []":                       "mcp.a.stores",
		"[mcp.a.stores]":                             "mcp.a.stores",

		"": "",
		"[stores]\nexclude = []\noff = []\ncodx = 1\n[trust]\nexclude = []": "", // those who read them look into them
		"[index]\noff = true":                      "",
		"[model.codex]\napi = 'chat'\n[model.off]": "",
		"[mcp.stores.env]\nTRUST = '1'\noff = 'x'": "",
		"[model.a.request]\nexclude = ['x']":       "",
		"[kb.topic.trust]\nsubjects = 'a'":         "",
		"colour = 'blue'\n[weather]\nwind = 3":     "",
		"[model.a]\napi = 1\nbase_url = 1\ncommand = 1\ninput = 1\nkey_command = 1\nkey_env = 1\nmax_output_tokens = 1\nmodel = 1\npass_env = 1\nrequest = 1\nscript = 1\ntimeout = 1\nweb_search = 1": "",
		"[mcp.a]\nargs = 1\ncommand = 1\nenv = 1\nurl = 1":                                                                "",
		"[session]\nmax_conversations = 1\nmax_interrupt_chain_depth = 1\nmax_interrupts_per_turn = 1\nmodel = 1":         "",
		"[kb.topic.a]\ndescription = 1\ndisabled = 1\nenable = 1\nintroduction = 1\nlearned = 1\nsubjects = 1\ntitle = 1": "",
		"[session]\nmodle = 'a'\nmax_depth = 3":                                                                           "",
		"[kb.topic.a]\ndisabled = []\nenable = true":                                                                      "",
	} {
		var decoded map[string]any
		if _, err := toml.Decode(file, &decoded); err != nil {
			t.Fatalf("%q: %v", file, err)
		}
		var got []string
		for _, p := range trust.Misplaced(decoded, []string{"claude-code", "codex"}) {
			got = append(got, strings.Join(p.Key, "."))
			if p.Hint == "" || !strings.HasPrefix(p.Message, "unknown key ") {
				t.Errorf("%q: %+v", file, p)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %v, want %s", file, got, want)
		}
	}
}

// In a project's file no name restricts, not even one that does in the user's.
func TestMisplacedInProject(t *testing.T) {
	t.Parallel()
	getenv := func(name string) string {
		return map[string]string{"HOME": "/home/u", "USERPROFILE": `C:\u`, "AppData": `C:\u\.config`}[name]
	}
	for file, want := range map[string]string{
		"[stores]\noff = []":      "what is read of stores of conversations is the user's to say, in ~/.config/convtools/convtools.toml; a file called .convtools-exclude excludes this project",
		"[index]\noff = true":     "what is read of stores of conversations is the user's to say",
		"[trust]":                 "whom to trust is the user's to say: it is read from ~/.config/convtools/convtools.toml alone",
		"[kb.topic.a]\nexclude=1": "what is read of stores",
		"[kb.topic.a]\ntitel=1":   "",
		"colour = 1":              "",
	} {
		var decoded map[string]any
		if _, err := toml.Decode(file, &decoded); err != nil {
			t.Fatalf("%q: %v", file, err)
		}
		problems := trust.MisplacedInProject(decoded, getenv)
		if len(problems) > 1 || (len(problems) == 1) != (want != "") || want != "" && !strings.HasPrefix(problems[0].Hint, want) {
			t.Errorf("%q: %+v", file, problems)
		}
	}
}
