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

// Topic is a table [kb.topic.ID]. A later file replaces the values of an earlier one, but adds to its lists.
type Topic struct {
	ID           string
	Enable       bool     `toml:"enable"`
	Title        string   `toml:"title"`
	Introduction string   `toml:"introduction"`
	Description  string   `toml:"description"`
	Subjects     string   `toml:"subjects"`
	Learned      []string `toml:"learned"`
	Disabled     []string `toml:"disabled"`

	UsersOnly           bool            // no file of the project mentions it
	Outside             string          // the absolute path of the directory if the user's own file names one
	Defined, SubjectsAt diag.Diagnostic // the positions of the first mention and of the last Subjects
	// PatternAt has the positions of the elements of Learned and Disabled, by "learned" or "disabled" and the element.
	PatternAt map[[2]string]diag.Diagnostic
}

// readTopics adds the topics of a file to Topics: to a topic of an earlier file with the same id, or as a new topic.
func (c *Config) readTopics(f *File) {
	var kb struct {
		Topics values `toml:"topic"`
	}
	f.decodeTable(&kb, f.top, "kb")
	for _, id := range f.keysOf(place{"kb", "topic"}) {
		i := slices.IndexFunc(c.Topics, func(t Topic) bool { return t.ID == id })
		if i < 0 {
			i = len(c.Topics)
			c.Topics = append(c.Topics, Topic{ID: id, Enable: true, Defined: f.position(place{"kb", "topic", id}), PatternAt: map[[2]string]diag.Diagnostic{}})
		}
		c.Topics[i].addFile(f, kb.Topics)
	}
}

// addFile sets the fields of the topic that f has values for, and adds the patterns of f to Learned and Disabled.
// topics are all topics of f. If f sets Subjects, Outside becomes its absolute path in the user's own file, else "".
func (t *Topic) addFile(f *File, topics values) {
	learned, disabled := t.Learned, t.Disabled // of earlier files; decodeTable replaces them
	t.Learned, t.Disabled = nil, nil           // so they stay empty if f has no patterns
	keyPath := place{"kb", "topic", t.ID}
	f.decodeTable(t, topics, keyPath...)
	t.UsersOnly = f.Root == "" // Root is "" for the user's own file, which is read before the project's files
	if f.meta.IsDefined("kb", "topic", t.ID, "subjects") {
		t.SubjectsAt, t.Outside = f.position(keyPath.Key("subjects")), ""
		if dir, ok := Expand(t.Subjects, f.config.Home); ok && t.UsersOnly {
			t.Outside = dir
		}
	}
	t.Learned = t.addPatterns(f, "learned", learned, t.Learned)
	t.Disabled = t.addPatterns(f, "disabled", disabled, t.Disabled)
}

// addPatterns returns the patterns of earlier files and of the list of f, each once, and sets PatternAt for those of f.
// The key of the list is learned or disabled. More than 64 patterns are a problem; the rest of the list is left out.
func (t *Topic) addPatterns(f *File, key string, earlier, list []string) []string {
	all := earlier
	for i, pattern := range list {
		switch keyPath := (place{"kb", "topic", t.ID, key, i}); {
		case slices.Contains(all, pattern): // from an earlier file
		case len(all) == 64:
			f.addProblem(keyPath, "one pattern can be for many subjects: dir/** is for all below dir", "%s has more than 64 patterns", inTable(keyPath[:4]))
			return all
		default:
			all = append(all, pattern)
			t.PatternAt[[2]string{key, pattern}] = f.position(keyPath)
		}
	}
	return all
}
