package jp

import (
	"cmp"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/store/internal/history"
)

// Model is a model in JP's words.
type Model struct {
	Provider, Name string // a Name without a Provider is one of JP's aliases
	BaseURL        string // of the provider; empty for its default
	KeyEnv         string // the variable with the key; empty for the provider's default
}

// baseConfig returns the base configuration of a new conversation: JP's models, providers and rule for running tools, with
// the model that was asked if JP has none. JP uses nothing but its defaults for what is missing in a base configuration.
func (w *Workspace) baseConfig(asked Model) []byte {
	configured := w.configured()
	base := nested("ask", "conversation", "tools", "*", "run") // JP loads no conversation without this rule
	for _, key := range [][]string{{"assistant", "model"}, {"providers", "llm"}, {"conversation", "tools", "*"}} {
		if part, ok := lookUp(configured, key...).(map[string]any); ok {
			overlay(base, nested(part, key...))
		}
	}
	if lookUp(base, "assistant", "model", "id") == nil {
		overlay(base, asked.config())
	}
	return append(marshalIndent(base, ""), '\n')
}

// config returns JP's configuration for the model: its id and how its provider is reached. A model without a provider,
// or with a name that JP does not allow in an id, gets its name, or "unknown", as an alias.
func (m Model) config() map[string]any {
	const allowed = idChars + "ABCDEFGHIJKLMNOPQRSTUVWXYZ_.:/~-"
	if m.Provider == "" || m.Name == "" || strings.Trim(m.Name, allowed) != "" {
		return nested(cmp.Or(strings.ReplaceAll(m.Name, "/", "-"), "unknown"), "assistant", "model", "id")
	}
	config := nested(map[string]any{"provider": m.Provider, "name": m.Name}, "assistant", "model", "id")
	for key, value := range map[string]string{"base_url": m.BaseURL, "api_key_env": m.KeyEnv} {
		if value != "" {
			overlay(config, nested(value, "providers", "llm", m.Provider, key))
		}
	}
	return config
}

// configured returns JP's configuration for the workspace from its TOML files. It leaves out other formats,
// files that these extend, the environment, and files that cannot be read.
func (w *Workspace) configured() map[string]any {
	const maxSize = 1 << 20
	merged := map[string]any{}
	merge := func(root *os.Root, err error, name string) {
		if err != nil {
			return // it may not exist
		}
		defer root.Close()
		data, err := safefile.ReadIn(root, name, maxSize)
		isInherited := merged["inherit"] != false // a file with inherit = false is the last that counts
		var file map[string]any
		if err == nil && isInherited && toml.Unmarshal(data, &file) == nil {
			overlay(merged, file)
		}
	}
	global, err := safefile.OpenDir(globalConfigDir(w.getenv))
	merge(global, err, "config.toml")
	storage, err := config.OpenDir(w.root, storageDir, w.getenv)
	merge(storage, err, "config.toml")
	root, err := safefile.OpenDir(w.root)
	merge(root, err, ".jp.toml")
	user, err := safefile.OpenDir(w.user)
	merge(user, err, "config.toml")
	return merged
}

// globalConfigDir returns the directory of JP's configuration for all workspaces, or "" if the environment names none.
func globalConfigDir(getenv func(string) string) string {
	if dir := getenv("JP_GLOBAL_CONFIG_DIR"); dir != "" {
		expanded, _ := config.Expand(dir, config.Home(getenv))
		return cmp.Or(expanded, dir)
	}
	if runtime.GOOS == "windows" {
		return history.InSettings(getenv, "jp", "config")
	}
	return history.InSettings(getenv, "jp")
}

// overlay sets the values of the configuration from in the configuration into. A table in both is merged likewise.
func overlay(into, from map[string]any) {
	for key, value := range from {
		old, wasTable := into[key].(map[string]any)
		if table, isTable := value.(map[string]any); wasTable && isTable {
			overlay(old, table)
		} else {
			into[key] = value
		}
	}
}

// nested returns a configuration of nested tables with one value: nested(v, "a", "b") has v as the value b in the table a.
func nested(value any, key ...string) map[string]any {
	for _, k := range slices.Backward(key) {
		value = map[string]any{k: value}
	}
	return value.(map[string]any)
}

// lookUp returns a value in nested tables, or nil if it is missing: lookUp(config, "a", "b") is the value b in the table a.
func lookUp(config map[string]any, key ...string) any {
	var value any = config
	for _, k := range key {
		table, _ := value.(map[string]any)
		value = table[k]
	}
	return value
}
