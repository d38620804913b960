package jp

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/config"
)

// Model is a model as JP knows it.
type Model struct {
	// Provider and Name are the model's. Where JP has no such provider it is empty, and Name is what JP calls an alias.
	Provider, Name string
	BaseURL        string // of the provider, as JP has it; empty is the provider's own
	KeyEnv         string // the variable with the key; empty is the provider's own
}

// baseConfig is what JP needs to go on in a conversation: a model, how its provider is reached, and whether tools run. It
// is what JP is configured to begin one with, and where that has no model, the one that was asked.
func (w *Workspace) baseConfig(asked Model) []byte {
	configured := w.configured()
	base := nested("ask", "conversation", "tools", "*", "run") // without it JP loads nothing
	// What a conversation is recorded with outranks the configuration when JP goes on in it, and so does JP's own default
	// where a part is missing.
	for _, key := range [][]string{{"assistant", "model"}, {"providers", "llm"}, {"conversation", "tools", "*"}} {
		if part, ok := at(configured, key...).(map[string]any); ok {
			overlay(base, nested(part, key...))
		}
	}
	if at(base, "assistant", "model", "id") == nil {
		overlay(base, asked.config())
	}
	return append(marshalIndent(base, ""), '\n')
}

// config returns the configuration of JP with a model.
func (m Model) config() map[string]any {
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:/~-"
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

// maxConfigSize bounds a file of JP's configuration.
const maxConfigSize = 1 << 20

// configured returns JP's configuration for the workspace, from the files in TOML that JP reads; later ones outrank
// earlier ones. What they extend, other formats, and the environment are left out, and so is what cannot be read: JP
// itself says so.
func (w *Workspace) configured() map[string]any {
	all := map[string]any{}
	for _, layer := range []struct {
		open func() (*os.Root, error)
		name string
	}{
		{func() (*os.Root, error) { return safefile.OpenDir(globalConfigDir(w.getenv, runtime.GOOS)) }, "config.toml"},
		{func() (*os.Root, error) { return config.OpenDir(w.root, storageDir, w.getenv) }, "config.toml"},
		{func() (*os.Root, error) { return safefile.OpenDir(w.root) }, ".jp.toml"},
		{func() (*os.Root, error) { return safefile.OpenDir(w.user) }, "config.toml"},
	} {
		if all["inherit"] == false {
			break
		}
		root, err := layer.open()
		if err != nil {
			continue // it need not be there
		}
		data, err := safefile.ReadIn(root, layer.name, maxConfigSize)
		root.Close()
		var file map[string]any
		if err == nil && toml.Unmarshal(data, &file) == nil {
			overlay(all, file)
		}
	}
	return all
}

// globalConfigDir returns the directory of JP's configuration for all workspaces; empty where the environment does not
// tell.
func globalConfigDir(getenv func(string) string, goos string) string {
	home := config.Home(getenv)
	if dir := getenv("JP_GLOBAL_CONFIG_DIR"); dir != "" {
		expanded, _ := config.Expand(dir, home)
		return cmp.Or(expanded, dir)
	}
	switch {
	case goos == "windows":
		return under(getenv("AppData"), "jp", "config")
	case goos == "darwin":
		return under(home, "Library", "Application Support", "jp")
	case filepath.IsAbs(getenv("XDG_CONFIG_HOME")):
		return filepath.Join(getenv("XDG_CONFIG_HOME"), "jp")
	}
	return under(home, ".config", "jp")
}

// overlay sets what one configuration has in another one, table by table.
func overlay(into, from map[string]any) {
	for key, value := range from {
		inner, isTable := value.(map[string]any)
		if !isTable {
			into[key] = value
			continue
		}
		under, both := into[key].(map[string]any)
		if !both {
			under = map[string]any{}
			into[key] = under
		}
		overlay(under, inner)
	}
}

// nested returns a configuration with a value under a key.
func nested(value any, key ...string) map[string]any {
	for _, k := range slices.Backward(key) {
		value = map[string]any{k: value}
	}
	return value.(map[string]any)
}

// at returns the value under a key; nil where there is none.
func at(config map[string]any, key ...string) any {
	var value any = config
	for _, k := range key {
		table, _ := value.(map[string]any)
		value = table[k]
	}
	return value
}
