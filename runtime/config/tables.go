package config

import (
	"slices"
	"time"
)

// Model is a table [model.NAME].
type Model struct {
	API        string   `toml:"api"`
	BaseURL    string   `toml:"base_url"`    // the vendor's own where there is none
	Model      string   `toml:"model"`       // what the provider calls it
	KeyEnv     string   `toml:"key_env"`     // the variable with the key
	KeyCommand []string `toml:"key_command"` // the command that prints it
	Script     string   `toml:"script"`      // relative to the file
	Command    []string `toml:"command"`
	Input      string   `toml:"input"`    // of the command: text or json
	Output     string   `toml:"output"`   // the same
	PassEnv    []string `toml:"pass_env"` // variables that command and key_command get besides the usual ones

	MaxOutputTokens int64          `toml:"max_output_tokens"`
	WebSearch       bool           `toml:"web_search"` // the provider has a search of its own
	Timeout         time.Duration  `toml:"timeout"`    // without a byte of the provider; of a command, in all
	Request         map[string]any `toml:"request"`    // what requests have besides, as temperature = 0.2
}

// Server is a table [mcp.NAME]: an MCP server, which is a program or an address.
type Server struct {
	Command string            `toml:"command"`
	Args    []string          `toml:"args"`
	Env     map[string]string `toml:"env"` // in addition to what every program gets
	URL     string            `toml:"url"` // over streamable HTTP
}

// TopicTable is a table [kb.topic.ID], as the files together have it: later ones replace what earlier ones say, but
// add to lists.
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
	// SubjectsFrom is the file that the directory is named in.
	SubjectsFrom          *Source
	Defined               Position   // where the topic is first mentioned
	SubjectsAt            Position   // where the last Subjects is set
	LearnedAt, DisabledAt []Position // for each of Learned and Disabled
	// UsersOnly is set where no file of the project mentions it.
	UsersOnly bool
}

// maxTopics is how many topics there may be, and maxPatterns how many learned and disabled of one may have each.
const (
	maxTopics   = 1000
	maxPatterns = 64
)

// topics takes the topics of a file.
func (c *Config) topics(d *document) {
	var ids []string
	for _, key := range d.tables("kb") {
		if key == "topic" {
			ids = d.tables("kb", "topic")
		} else {
			d.unknown(place{"kb", key}, []string{"topic"})
		}
	}
	for _, id := range ids {
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

func (t *Topic) take(d *document) {
	learned, disabled := t.Learned, t.Disabled
	t.Learned, t.Disabled = nil, nil
	at := place{"kb", "topic", t.ID}
	d.take(&t.TopicTable, at...)
	t.UsersOnly = d.from.Root == ""
	if slices.Contains(d.names(at), "subjects") {
		t.SubjectsFrom, t.SubjectsAt = d.from, d.at(at.add("subjects"))
	}
	t.Learned = d.add(learned, &t.LearnedAt, t.Learned, at.add("learned"))
	t.Disabled = d.add(disabled, &t.DisabledAt, t.Disabled, at.add("disabled"))
}

// add adds the elements of a list that are new to another, and their places.
func (d *document) add(to []string, places *[]Position, items []string, at place) []string {
	for i, item := range items {
		place := d.at(at.add(i))
		switch {
		case slices.Contains(to, item):
		case len(to) == maxPatterns:
			d.wrong(unit(at), place, "one pattern can be for many subjects: dir/** is for all below dir",
				"%s has more than %d patterns", inTable(at), maxPatterns)
			return to
		default:
			to, *places = append(to, item), append(*places, place)
		}
	}
	return to
}
