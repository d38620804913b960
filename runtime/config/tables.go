package config

import (
	"slices"
	"time"
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

// TopicTable is a table [kb.topic.ID] of all files together: a later file replaces the values of an earlier one, but adds
// to its lists.
type TopicTable struct {
	Enable       bool     `toml:"enable"`
	Title        string   `toml:"title"`
	Introduction string   `toml:"introduction"`
	Description  string   `toml:"description"`
	Subjects     string   `toml:"subjects"`
	Learned      []string `toml:"learned"`
	Disabled     []string `toml:"disabled"`
}

// Topic is a topic of the knowledge base.
type Topic struct {
	ID string
	TopicTable
	SubjectsFrom          *Source    // the file with the last Subjects
	Defined               Position   // of the first mention
	SubjectsAt            Position   // of the last Subjects
	LearnedAt, DisabledAt []Position // of the elements of Learned and Disabled
	UsersOnly             bool       // no file of the project mentions it
}

// maxTopics is the number of topics that there may be, and maxPatterns that of the elements of Learned and of Disabled.
const (
	maxTopics   = 1000
	maxPatterns = 64
)

// topics reads the topics of a file.
func (c *Config) topics(d *document) {
	for _, key := range d.tables("kb") {
		if key != "topic" {
			d.unknown(place{"kb", key}, []string{"topic"})
			continue
		}
		for _, id := range d.tables("kb", "topic") {
			i := slices.IndexFunc(c.Topics, func(t Topic) bool { return t.ID == id })
			if i < 0 {
				at := d.at(place{"kb", "topic", id})
				if i = len(c.Topics); i == maxTopics {
					d.wrong([]string{"kb"}, at, "", "there are more than %d topics", maxTopics)
					return
				}
				c.Topics = append(c.Topics, Topic{ID: id, TopicTable: TopicTable{Enable: true}, Defined: at})
			}
			c.Topics[i].take(d)
		}
	}
}

func (t *Topic) take(d *document) {
	learned, disabled := t.Learned, t.Disabled
	t.Learned, t.Disabled = nil, nil
	at := place{"kb", "topic", t.ID}
	d.take(&t.TopicTable, at...)
	t.UsersOnly = d.from.Root == ""
	if slices.Contains(d.names(at), "subjects") {
		t.SubjectsFrom, t.SubjectsAt = d.from, d.at(at.Key("subjects"))
	}
	t.Learned = d.add(learned, &t.LearnedAt, t.Learned, at.Key("learned"))
	t.Disabled = d.add(disabled, &t.DisabledAt, t.Disabled, at.Key("disabled"))
}

// add adds the new elements of a list to another list, and their positions to those.
func (d *document) add(to []string, positions *[]Position, items []string, at place) []string {
	for i, item := range items {
		if slices.Contains(to, item) {
			continue
		}
		position := d.at(at.Elem(i))
		if len(to) == maxPatterns {
			d.wrong(unit(at), position, "one pattern can be for many subjects: dir/** is for all below dir",
				"%s has more than %d patterns", inTable(at), maxPatterns)
			return to
		}
		to, *positions = append(to, item), append(*positions, position)
	}
	return to
}
