package conversations

import (
	"cmp"
	"strings"

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

// ResumeCommand returns the program that recorded a conversation, and the arguments with which it goes on; none if it
// cannot be started with a session. A part of a session, such as the work of a sub-agent, goes on as the session.
func ResumeCommand(c *transcript.Conversation) []string {
	program := cmp.Or(SourceOf(c.ID), jp.Name)
	own, isJP := strings.CutPrefix(string(c.ID), "jp-c")
	if !isJP {
		_, own, _ = strings.Cut(string(c.ID), "-")
		own, _, _ = strings.Cut(own, ".")
	}
	if _, isHeld := c.Labels[heldLabel]; isHeld && isJP {
		program, own = sessions.Name, string(c.ID)
	}
	words := strings.Fields(resumes()[program])
	if own == "" || own[0] == '-' || len(words) == 0 {
		return nil
	}
	last := &words[len(words)-1]
	*last = strings.Replace(*last, "ID", own, 1)
	return words
}
