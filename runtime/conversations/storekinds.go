package conversations

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/archive"
	"github.com/convtools/convtools/runtime/store/chatgpt"
	"github.com/convtools/convtools/runtime/store/claudecode"
	"github.com/convtools/convtools/runtime/store/cline"
	"github.com/convtools/convtools/runtime/store/codex"
	"github.com/convtools/convtools/runtime/store/copilot"
	"github.com/convtools/convtools/runtime/store/crush"
	"github.com/convtools/convtools/runtime/store/cursor"
	"github.com/convtools/convtools/runtime/store/gemini"
	"github.com/convtools/convtools/runtime/store/goose"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/store/opencode"
	"github.com/convtools/convtools/runtime/store/pi"
	"github.com/convtools/convtools/runtime/store/postgres"
	"github.com/convtools/convtools/runtime/store/qwen"
	"github.com/convtools/convtools/runtime/store/sessions"
	"github.com/convtools/convtools/runtime/store/vscode"
	"github.com/convtools/convtools/runtime/store/zed"
	"github.com/convtools/convtools/runtime/transcript"
)

// kind is a kind of store.
type kind struct {
	name    string // [store.Store.Name]
	program string // that records the conversations, for people
	// resume is the command line that goes on with a session, with ID in place of the session's own id; empty if the
	// program cannot be started with a session.
	resume string
	// homes returns the directories of the program and of its variants, the usual one first; "" for a directory that the
	// environment does not have. It is nil for JP, which keeps conversations in projects.
	homes func(getenv func(string) string) []string
	// open returns the store in a home; false if there is none. It is nil for JP.
	open func(store.Options) (store.Store, bool)
	// ids is the form of ids; nil for JP.
	ids interface {
		// Claims reports whether a text can only be an id of such a store, valid or not. Other texts are JP's.
		Claims(text string) bool
		ParseID(text string) (transcript.ID, error)
	}
	variables []string // the environment variables that move the program's directory
	archive   bool     // its conversations belong to no project
}

// kinds returns all kinds of stores. Each has its fields in order: name, program, resume, homes, open, ids, variables,
// archive. For JP, which keeps conversations in projects, the fields homes, open and ids are nil.
func kinds() []kind {
	return []kind{
		{jp.Name, "JP", "jp query --id jp-cID", nil, nil, nil, []string{"JP_USER_DATA_DIR", "XDG_DATA_HOME"}, false},
		{claudecode.Name, "Claude Code", "claude --resume ID", only(claudecode.Home), opens(claudecode.Open), claudecode.IDs(), []string{"CLAUDE_CONFIG_DIR"}, false},
		{codex.Name, "Codex", "codex resume ID", only(codex.Home), opens(codex.Open), codex.IDs(), []string{"CODEX_HOME"}, false},
		{string(opencode.OpenCode), "opencode", "opencode --session ID", only(opencode.OpenCode.Home), opens(opencode.OpenCode.Open), opencode.OpenCode.IDs(), []string{"OPENCODE_DB", "XDG_DATA_HOME"}, false},
		{gemini.Name, "Gemini CLI", "gemini --resume ID", only(gemini.Home), opens(gemini.Open), gemini.IDs(), []string{"GEMINI_CLI_HOME"}, false},
		{cline.Name, "Cline", "cline --id ID", cline.Homes, opens(cline.Open), cline.IDs(), []string{"CLINE_DATA_DIR", "XDG_CONFIG_HOME"}, false},
		{qwen.Name, "Qwen Code", "qwen --resume ID", only(qwen.Home), opens(qwen.Open), qwen.IDs(), []string{"QWEN_RUNTIME_DIR", "QWEN_HOME"}, false},
		{pi.Name, "pi", "pi --session ID", pi.Homes, opens(pi.Open), pi.IDs(), []string{"PI_CODING_AGENT_DIR", "OPENCLAW_STATE_DIR", "OPENCLAW_HOME"}, false},
		{string(opencode.Kilo), "Kilo", "kilo --session ID", only(opencode.Kilo.Home), opens(opencode.Kilo.Open), opencode.Kilo.IDs(), []string{"KILO_DB", "XDG_DATA_HOME"}, false},
		{copilot.Name, "GitHub Copilot CLI", "copilot --resume ID", only(copilot.Home), opens(copilot.Open), copilot.IDs(), []string{"COPILOT_HOME"}, false},
		{vscode.Name, "VS Code", "", vscode.Homes, opens(vscode.Open), vscode.IDs(), []string{"XDG_CONFIG_HOME"}, false},
		{cursor.Name, "Cursor", "", cursor.Homes, opens(cursor.Open), cursor.IDs(), []string{"CURSOR_CONFIG_DIR", "XDG_CONFIG_HOME"}, false},
		{crush.Name, "Crush", "crush --session ID", only(crush.Home), opens(crush.Open), crush.IDs(), []string{"CRUSH_GLOBAL_DATA", "XDG_DATA_HOME"}, false},
		{goose.Name, "Goose", "goose session --resume --session-id ID", only(goose.Home), goose.Open, goose.IDs(), []string{"GOOSE_PATH_ROOT", "XDG_DATA_HOME"}, false},
		{zed.Name, "Zed", "", zed.Homes, opens(zed.Open), zed.IDs(), []string{"XDG_DATA_HOME"}, false},
		{sessions.Name, "convtools", "convtools session resume ID", only(sessions.Home), opens(sessions.Open), sessions.IDs(), []string{"XDG_DATA_HOME"}, false},
		{chatgpt.Name, "ChatGPT", "", only(chatgpt.Home), opens(chatgpt.Open), chatgpt.IDs(), chatgpt.Variables(), true},
		{archive.Name, "imported exports", "", only(archiveHome), openArchive, archive.IDs(), append([]string{"XDG_DATA_HOME"}, chatgpt.Variables()...), true},
	}
}

// kindNamed returns the kind of store with a name; the zero value for an unknown name.
func kindNamed(name string) kind {
	for _, k := range kinds() {
		if k.name == name {
			return k
		}
	}
	return kind{}
}

// only returns the homes function of a kind with one home.
func only(home func(getenv func(string) string) string) func(getenv func(string) string) []string {
	return func(getenv func(string) string) []string { return []string{home(getenv)} }
}

// opens returns the open function of a kind, from the function of a package that returns its own type of store.
func opens[S store.Store](open func(store.Options) (S, bool)) func(store.Options) (store.Store, bool) {
	return func(o store.Options) (store.Store, bool) { return open(o) }
}

// archiveHome returns the place of the archive: the server in the environment, or the user's data directory.
func archiveHome(getenv func(string) string) string {
	return cmp.Or(postgres.Home(getenv), archive.Home(getenv))
}

// openArchive opens the archive on the server that the environment names, or else in the user's data directory.
func openArchive(o store.Options) (store.Store, bool) {
	if s, ok := postgres.Open(o); ok {
		return s, ok
	}
	return archive.Open(o)
}

// Sources returns the names of all kinds of stores, as [Filter.Sources] takes them.
func Sources() []string {
	var names []string
	for _, k := range kinds() {
		names = append(names, k.name)
	}
	return names
}

// Programs returns the names, for people, of the programs that record conversations of a project.
func Programs() []string {
	var names []string
	for _, k := range kinds() {
		if !k.archive {
			names = append(names, k.program)
		}
	}
	return names
}

// Variables returns the names of the environment variables by which conversations and their settings are found, sorted.
// HOME and the like are not among them.
func Variables() []string {
	names := []string{"XDG_CONFIG_HOME"} // of the settings
	for _, k := range kinds() {
		names = append(names, k.variables...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// IsProgram reports whether a kind of store is of a program that records the conversations of a project.
func IsProgram(source string) bool {
	return !kindNamed(source).archive
}

// ParseID parses an id of any kind of store in any spelling. It need not exist. The error is a [*store.BadIDError].
func ParseID(text string) (transcript.ID, error) {
	if k := claimant(text); k.ids != nil {
		return k.ids.ParseID(text)
	}
	return jp.ParseID(text)
}

// SourceOf returns the kind of store of an id; empty for JP.
func SourceOf(id transcript.ID) string { return claimant(string(id)).name }

// claimant returns the kind of store whose ids have the form of a text; the zero value for none.
func claimant(text string) kind {
	for _, k := range kinds() {
		if k.ids != nil && k.ids.Claims(text) {
			return k
		}
	}
	return kind{}
}

// ResumeCommand returns the command line that goes on with a conversation in the program that recorded it: the name of
// the program, then the arguments. It returns nil if the program has no such command. For a part of a session, such as
// the work of a sub-agent, the command goes on with the session.
func ResumeCommand(c *transcript.Conversation) []string {
	program := cmp.Or(SourceOf(c.ID), jp.Name)
	_, own, _ := c.ID.Split()
	if _, isOurs := c.Labels[jp.LabelSession]; isOurs && program == jp.Name { // a session of convtools, which JP's store records
		program, own = sessions.Name, string(c.ID)
	}
	if _, isAgents := c.Labels[pi.AgentLabel]; isAgents && program == pi.Name {
		return nil // a session of OpenClaw, which has no command that goes on with a session by its id
	}
	words := strings.Fields(kindNamed(program).resume)
	if looksLikeFlag := strings.HasPrefix(own, "-"); looksLikeFlag || own == "" || len(words) == 0 {
		return nil
	}
	last := &words[len(words)-1]
	*last = strings.Replace(*last, "ID", own, 1)
	return words
}

// retention returns after how many days the program of a kind of store deletes a session; 0 if it keeps sessions. home
// is the directory of the program.
func retention(kind, home string) int {
	const usual, maxBytes = 30, 1 << 20 // days, and the size of a settings file
	switch kind {
	case gemini.Name:
		return usual
	case claudecode.Name:
		var settings struct {
			Days *int `json:"cleanupPeriodDays"`
		}
		content, err := safefile.Read(filepath.Join(home, "settings.json"), maxBytes)
		if err == nil && json.Unmarshal(content, &settings) == nil && settings.Days != nil {
			return *settings.Days
		}
		return usual
	}
	return 0
}
