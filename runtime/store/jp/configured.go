package jp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/bmatcuk/doublestar/v4"

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
func (w *Workspace) baseConfig(asked Model) ([]byte, error) {
	configured := w.configured()
	base := nested("ask", "conversation", "tools", "*", "run") // without it JP loads nothing
	for _, key := range kept() {
		if part, ok := at(configured, key...).(map[string]any); ok {
			overlay(base, nested(part, key...))
		}
	}
	if at(base, "assistant", "model", "id") == nil {
		overlay(base, asked.config())
	}
	data, err := json.MarshalIndent(base, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing %s: %w", baseConfigFile, err)
	}
	return append(data, '\n'), nil
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

// kept is the parts of JP's configuration that a new conversation is recorded with. What a conversation is recorded with
// outranks the configuration when JP goes on in it, and so does JP's own default where a part is missing.
func kept() [][]string {
	return [][]string{{"assistant", "model"}, {"providers", "llm"}, {"conversation", "tools", "*"}}
}

// configured returns JP's configuration for the workspace, from the files that JP reads, those which they extend, and the
// environment. It has what is in TOML and JSON; an array replaces the one before. What cannot be read is left out: JP
// itself says so.
func (w *Workspace) configured() map[string]any {
	all := map[string]any{}
	for _, layer := range []struct {
		open func() (*os.Root, error)
		name string
	}{
		{func() (*os.Root, error) { return safefile.OpenDir(globalConfigDir(w.getenv, runtime.GOOS)) }, "config"},
		{func() (*os.Root, error) { return config.OpenDir(w.root, storageDir, w.getenv) }, "config"},
		{func() (*os.Root, error) { return safefile.OpenDir(w.root) }, ".jp"},
		{func() (*os.Root, error) { return safefile.OpenDir(w.user) }, "config"},
	} {
		if all["inherit"] == false {
			break
		}
		root, err := layer.open()
		if err != nil {
			continue // it need not be there
		}
		l := configLayer{root: root, into: all}
		if !l.load(layer.name+".toml", 0) {
			l.load(layer.name+".json", 0)
		}
		root.Close()
	}
	w.fromEnvironment(all)
	return all
}

// fromEnvironment adds what variables name of the model, and of how it is reached.
func (w *Workspace) fromEnvironment(all map[string]any) {
	keys := [][]string{{"assistant", "model", "id"}}
	for _, provider := range []string{"anthropic", "cerebras", "deepseek", "google", "llamacpp", "ollama", "openai", "openrouter"} {
		keys = append(keys, []string{"providers", "llm", provider, "base_url"}, []string{"providers", "llm", provider, "api_key_env"})
	}
	for _, key := range keys {
		if value := w.getenv("JP_CFG_" + strings.ToUpper(strings.Join(key, "_"))); value != "" {
			overlay(all, nested(value, key...))
		}
	}
}

// globalConfigDir returns the directory of JP's configuration for all workspaces; empty where the environment does not
// tell.
func globalConfigDir(getenv func(string) string, goos string) string {
	home := config.Home(getenv)
	if dir := getenv("JP_GLOBAL_CONFIG_DIR"); dir != "" {
		if expanded, ok := config.Expand(dir, home); ok {
			return expanded
		}
		return dir
	}
	switch {
	case goos == "windows" && getenv("AppData") != "":
		return filepath.Join(getenv("AppData"), "jp", "config")
	case goos == "darwin" && home != "":
		return filepath.Join(home, "Library", "Application Support", "jp")
	case goos == "windows" || goos == "darwin":
		return ""
	case filepath.IsAbs(getenv("XDG_CONFIG_HOME")):
		return filepath.Join(getenv("XDG_CONFIG_HOME"), "jp")
	case home != "":
		return filepath.Join(home, ".config", "jp")
	}
	return ""
}

const (
	maxConfigSize  = 1 << 20
	maxConfigFiles = 1 << 10 // of a layer, looked at
	maxConfigDepth = 8       // of files that extend others
)

// configLayer is a file of JP's configuration, with those that it extends.
type configLayer struct {
	root  *os.Root
	into  map[string]any
	files int
}

// load adds a file, and reports whether it is there.
func (l *configLayer) load(name string, depth int) bool {
	if l.files++; l.files > maxConfigFiles || depth > maxConfigDepth {
		return false
	}
	data, err := safefile.ReadIn(l.root, name, maxConfigSize)
	if err != nil {
		return false
	}
	var file map[string]any
	if path.Ext(name) == ".json" {
		err = json.Unmarshal(data, &file)
	} else {
		err = toml.Unmarshal(data, &file)
	}
	if err != nil {
		return true
	}
	var after []string
	extends, _ := file["extends"].([]any)
	for _, e := range extends {
		pattern, _ := e.(string)
		if table, ok := e.(map[string]any); ok {
			pattern, _ = table["path"].(string)
			if table["strategy"] == "after" {
				after = append(after, pattern)
				continue
			}
		}
		l.extend(path.Join(path.Dir(name), pattern), depth)
	}
	overlay(l.into, file)
	for _, pattern := range after {
		l.extend(path.Join(path.Dir(name), pattern), depth)
	}
	return true
}

// extend adds the files that a pattern stands for, in the order of their names.
func (l *configLayer) extend(pattern string, depth int) {
	names, _ := doublestar.Glob(l.root.FS(), pattern, doublestar.WithFilesOnly()) // what cannot be read is left out
	for _, name := range slices.Sorted(slices.Values(names)) {
		l.load(name, depth+1)
	}
}

// overlay sets what one configuration has in another one, table by table.
func overlay(into, from map[string]any) {
	for key, value := range from {
		table, ok := value.(map[string]any)
		under, both := into[key].(map[string]any)
		switch {
		case ok && both:
			overlay(under, table)
		case ok:
			under = map[string]any{}
			overlay(under, table)
			into[key] = under
		default:
			into[key] = value
		}
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
