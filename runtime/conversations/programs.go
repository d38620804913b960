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
	"github.com/convtools/convtools/runtime/store/pi"
	"github.com/convtools/convtools/runtime/store/sessions"
	"github.com/convtools/convtools/runtime/transcript"
)

// heldLabel is the label of a conversation of JP that was held with this program.
const heldLabel = "convtools"

// ResumeCommand returns the command line that goes on with a conversation in the program that recorded it: the name of
// the program, then the arguments. It returns nil if the program has no such command. For a part of a session, such as
// the work of a sub-agent, the command goes on with the session.
func ResumeCommand(c *transcript.Conversation) []string {
	program := cmp.Or(SourceOf(c.ID), jp.Name)
	_, own, _ := c.ID.Split()
	if _, isHeld := c.Labels[heldLabel]; isHeld && program == jp.Name {
		program, own = sessions.Name, string(c.ID)
	}
	if _, isAgents := c.Labels[pi.AgentLabel]; isAgents && program == pi.Name {
		return nil // OpenClaw has no command that goes on with a session by its id
	}
	words := strings.Fields(kindNamed(program).resume)
	if looksLikeFlag := strings.HasPrefix(own, "-"); looksLikeFlag || own == "" || len(words) == 0 {
		return nil
	}
	last := &words[len(words)-1]
	*last = strings.Replace(*last, "ID", own, 1)
	return words
}

// HowToDelete returns, for people, how to delete a conversation in the program that recorded it. place is the place of
// the store.
func HowToDelete(id transcript.ID, place string) string {
	_, own, _ := id.Split()
	return "use that program, or remove the files and rows of " + own + " below " + place
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
