package tools

import (
	"encoding/json"

	"github.com/convtools/convtools/runtime/session"
)

// Settings are the settings of a session. Each of its conversations has them as [session.Context].Settings.
type Settings struct {
	Model string `json:"model,omitempty"` // the name of a configured model; empty is the one that the configuration chooses
	Root  string `json:"root"`            // absolute path of the workspace, whose files may be read; empty is none
	Dir   string `json:"dir"`             // absolute path that relative paths start from
	// Outside is true for the session of a program outside. The program takes the place of the root's model.
	Outside bool `json:"outside,omitempty"`
	// Recorded is the id of the recorded conversation that the root continues, or that a program outside calls from.
	Recorded  string   `json:"recorded,omitempty"`
	Knowledge []string `json:"knowledge,omitempty"` // documents to learn besides the project's own, as TOPIC/GLOB
	Hidden    bool     `json:"hidden,omitempty"`    // recorded conversations are left out of lists and searches
	JP        bool     `json:"jp,omitempty"`        // the session is recorded in the JP workspace of Dir, not read from its log
}

// String returns the settings as JSON.
func (s Settings) String() string {
	data, _ := json.Marshal(s) // strings always have JSON
	return string(data)
}

// SettingsOf returns the settings of a conversation. Settings that cannot be read are zero.
func SettingsOf(c session.Context) (s Settings) {
	_ = json.Unmarshal([]byte(c.Settings), &s)
	return s
}
