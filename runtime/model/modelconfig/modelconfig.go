// Package modelconfig reads which models are configured, and opens one.
package modelconfig

import (
	"context"

	"github.com/convtools/convtools/runtime/model"
)

// Config is what the configuration files say of models and sessions.
type Config struct {
	Models  []Model // by name
	Session Session
}

// Session is the table [session]. Limits are 0 where no file names them.
type Session struct {
	Model                  string // the one to use where the user names none
	MaxInterruptChainDepth int
	MaxInterruptsPerTurn   int
	MaxConversations       int
}

// Model is a table [model.NAME].
type Model struct {
	Name      string
	API       string // responses, chat, messages, command or scripted
	WebSearch bool   // the provider's own search may be offered
	Tools     bool   // tools may be offered
}

// Load reads the configuration for a directory.
func Load(dir string, getenv func(string) string) (Config, error) { return Config{}, nil }

// Choose returns the model that applies: the named one, or where name is empty the one that the configuration names, or
// the only one.
func (c Config) Choose(name string) (Model, error) { return Model{}, nil }

// Open opens a model.
func (m Model) Open(ctx context.Context) (model.Model, error) { return nil, nil }
