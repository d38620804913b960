package conversations

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store/claudecode"
	"github.com/convtools/convtools/runtime/store/gemini"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/store/sessions"
	"github.com/convtools/convtools/runtime/transcript"
)

// resumes are the command lines that go on with a session, by the kinds of stores, with ID in place of the session's
// own id. Programs that are not here cannot be started with a session.
func resumes() map[string]string {
	return map[string]string{
		"jp":          "jp query --id jp-cID",
		"claude-code": "claude --resume ID",
		"codex":       "codex resume ID",
		"opencode":    "opencode --session ID",
		"gemini":      "gemini --resume ID",
		"copilot":     "copilot --resume ID",
		"crush":       "crush --session ID",
		"goose":       "goose session --resume --session-id ID",
		"qwen":        "qwen --resume ID",
		"pi":          "pi --session ID",
		"cline":       "cline --id ID",
		"kilo":        "kilo --session ID",
		"convtools":   "convtools session resume ID",
	}
}

// heldLabel is the label of a conversation of JP that was held with this program.
const heldLabel = "convtools"

// ownID returns the id that a program gave a session, from the id here of the session or of a part of it.
func ownID(id transcript.ID) string {
	if own, isJP := strings.CutPrefix(string(id), "jp-c"); isJP {
		return own
	}
	_, own, _ := strings.Cut(string(id), "-")
	own, _, _ = strings.Cut(own, ".")
	return own
}

// ResumeCommand returns the name of the program that recorded a conversation, and the arguments with which the program
// goes on with it; nil if the program cannot be started with a session. A part of a session, such as the work of a
// sub-agent, goes on as the session.
func ResumeCommand(c *transcript.Conversation) []string {
	program, own := cmp.Or(SourceOf(c.ID), jp.Name), ownID(c.ID)
	if _, isHeld := c.Labels[heldLabel]; isHeld && program == jp.Name {
		program, own = sessions.Name, string(c.ID)
	}
	words := strings.Fields(resumes()[program])
	if own == "" || own[0] == '-' || len(words) == 0 { // the program would read '-' as a flag
		return nil
	}
	last := &words[len(words)-1]
	*last = strings.Replace(*last, "ID", own, 1)
	return words
}

// HowToDelete returns, for people, how to delete a conversation in the program that recorded it. place is the place of
// the store.
func HowToDelete(id transcript.ID, place string) string {
	return "use that program, or remove the files and rows of " + ownID(id) + " below " + place
}

// retention returns after how many days the program of a kind of store deletes a session; 0 if it keeps sessions. home
// is the directory of the program.
func retention(kind, home string) int {
	const usual, most = 30, 1 << 20
	switch kind {
	case gemini.Name:
		return usual
	case claudecode.Name:
		var settings struct {
			Days *int `json:"cleanupPeriodDays"`
		}
		content, err := safefile.Read(filepath.Join(home, "settings.json"), most)
		if err == nil && json.Unmarshal(content, &settings) == nil && settings.Days != nil {
			return *settings.Days
		}
		return usual
	}
	return 0
}
