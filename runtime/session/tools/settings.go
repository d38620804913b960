package tools

import (
	"encoding/json"

	"github.com/convtools/convtools/runtime/session"
)

// Settings is what a host keeps with the root of a session, and every conversation has from there: what
// [session.Context] calls its Settings.
type Settings struct {
	// Model is the name of a configured model; empty for the one that the configuration chooses.
	Model string `json:"model,omitempty"`
	// Root is the workspace: files are read inside of it alone, and none where it is empty. Dir is where relative paths
	// begin. Both are absolute.
	Root string `json:"root"`
	Dir  string `json:"dir"`
	// Outside reports that a program outside of the session has the place of the root's model: its calls are submissions.
	Outside bool `json:"outside,omitempty"`
	// Recorded is the id of the recorded conversation that the root is: that which a program outside calls from, or that which
	// the session goes on in. Empty is none from before the session.
	Recorded string `json:"recorded,omitempty"`
	// Knowledge is what is learned besides what the project says, as TOPIC/GLOB.
	Knowledge []string `json:"knowledge,omitempty"`
	// Hidden reports whether what is recorded is to be left out of lists and searches.
	Hidden bool `json:"hidden,omitempty"`
	// JP reports whether what is said is recorded in the JP workspace of Dir, and is not to be found in the log as well.
	JP bool `json:"jp,omitempty"`
}

// String returns the settings as a conversation keeps them.
func (s Settings) String() string {
	data, _ := json.Marshal(s) // of strings, which always have a form
	return string(data)
}

// SettingsOf returns the settings that a conversation keeps. What cannot be read is left out of them.
func SettingsOf(c session.Context) (s Settings) {
	_ = json.Unmarshal([]byte(c.Settings), &s)
	return s
}
