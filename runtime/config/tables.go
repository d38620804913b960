package config

import (
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/base/diag"
)

// Model is a table [model.NAME].
type Model struct {
	API        string   `toml:"api"`
	BaseURL    string   `toml:"base_url"`    // empty for the vendor's own
	Model      string   `toml:"model"`       // its name at the provider
	KeyEnv     string   `toml:"key_env"`     // the variable with the key
	KeyCommand []string `toml:"key_command"` // the command that prints the key
	Script     string   `toml:"script"`      // relative to the file
	Command    []string `toml:"command"`
	Input      string   `toml:"input"`    // of the command: text or json
	Output     string   `toml:"output"`   // of the command: text or json
	PassEnv    []string `toml:"pass_env"` // more variables for command and key_command

	MaxOutputTokens int64          `toml:"max_output_tokens"`
	WebSearch       bool           `toml:"web_search"` // the provider's own search may be used
	Timeout         time.Duration  `toml:"timeout"`    // without a byte from the provider; for a command, in all
	Request         map[string]any `toml:"request"`    // more fields of requests, such as temperature
}

// Server is a table [mcp.NAME]: an MCP server, which is a program or an address.
type Server struct {
	Command string            `toml:"command"`
	Args    []string          `toml:"args"`
	Env     map[string]string `toml:"env"` // in addition to what every program gets
	URL     string            `toml:"url"` // over streamable HTTP
}

// Topic is a topic of the knowledge base, [kb.topic.ID]. A later file replaces the values of an earlier one, but adds to
// its lists.
type Topic struct {
	ID           string
	Enable       bool     `toml:"enable"`
	Title        string   `toml:"title"`
	Introduction string   `toml:"introduction"`
	Description  string   `toml:"description"`
	Subjects     string   `toml:"subjects"`
	Learned      []string `toml:"learned"`
	Disabled     []string `toml:"disabled"`

	UsersOnly bool   // no file of the project mentions it
	Outside   string // the absolute path of the directory if the user's own file names one
	// The positions of the first mention, of the last Subjects, and of the elements of Learned and Disabled.
	Defined, SubjectsAt   diag.Diagnostic
	LearnedAt, DisabledAt []diag.Diagnostic
}

// topics reads the topics of a file.
func (c *Config) topics(f *File) {
	var kb struct {
		Topics values `toml:"topic"`
	}
	f.take(&kb, f.top, "kb")
	for _, id := range f.keysOf(place{"kb", "topic"}) {
		i := slices.IndexFunc(c.Topics, func(t Topic) bool { return t.ID == id })
		if i < 0 {
			i = len(c.Topics)
			c.Topics = append(c.Topics, Topic{ID: id, Enable: true, Defined: f.at(place{"kb", "topic", id})})
		}
		c.Topics[i].take(f, kb.Topics)
	}
}

// take decodes the table of the topic in a file, whose topics are given.
func (t *Topic) take(f *File, topics values) {
	learned, disabled := t.Learned, t.Disabled
	t.Learned, t.Disabled = nil, nil
	at := place{"kb", "topic", t.ID}
	f.take(t, topics, at...)
	t.UsersOnly = f.Root == ""
	if f.meta.IsDefined("kb", "topic", t.ID, "subjects") {
		t.SubjectsAt, t.Outside = f.at(at.Key("subjects")), ""
		if dir, ok := Expand(t.Subjects, f.config.Home); ok && f.Root == "" {
			t.Outside = dir
		}
	}
	t.Learned = f.merge(learned, &t.LearnedAt, t.Learned, at.Key("learned"))
	t.Disabled = f.merge(disabled, &t.DisabledAt, t.Disabled, at.Key("disabled"))
}

// merge adds the new patterns of a list at a place to those of earlier files, and their positions to those.
func (f *File) merge(to []string, positions *[]diag.Diagnostic, items []string, at place) []string {
	const maxPatterns = 64
	for i, item := range items {
		switch {
		case slices.Contains(to, item):
		case len(to) == maxPatterns:
			f.wrong(at.Elem(i), "one pattern can be for many subjects: dir/** is for all below dir", "%s has more than %d patterns", inTable(at), maxPatterns)
			return to
		default:
			to, *positions = append(to, item), append(*positions, f.at(at.Elem(i)))
		}
	}
	return to
}
