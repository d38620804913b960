package tools

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/convtools/convtools/runtime/store/jp"
)

// What JP calls a model is true: it reaches the same model with it.
func TestJPModel(t *testing.T) {
	t.Parallel()
	config := `
[model.gpt]
api = "responses"
model = "gpt-5"
key_env = "KEY"
[model.proxy]
api = "responses"
model = "gpt-5"
base_url = "https://proxy.example/v1/"
key_env = "KEY"
[model.claude]
api = "messages"
model = "claude"
base_url = "https://api.anthropic.com/v1"
[model.gateway]
api = "messages"
model = "claude"
base_url = "http://127.0.0.1:1"
[model.chat]
api = "chat"
model = "gpt"
[model.router]
api = "chat"
model = "maker/model"
base_url = "https://openrouter.ai/api/v1"
key_env = "ROUTER"
[model.ollama]
api = "chat"
model = "qwen3:8b"
base_url = "http://localhost:11434/v1"
[model.server]
api = "chat"
model = "m"
base_url = "http://127.0.0.1:8080/v1"
key_env = "KEY"
[model.program]
api = "command"
command = ["x"]
[model.script]
api = "scripted"
script = "x.toml"
`
	dir := t.TempDir()
	file := filepath.Join(dir, "convtools", "convtools.toml")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	loaded, err := readConfig(t.TempDir(), func(name string) string {
		return map[string]string{"XDG_CONFIG_HOME": dir, "AppData": dir}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	s := &Project{Config: loaded}
	for name, want := range map[string]jp.Model{
		"gpt":     {Provider: "openai", Name: "gpt-5", KeyEnv: "KEY"},
		"proxy":   {Provider: "openai", Name: "gpt-5", BaseURL: "https://proxy.example", KeyEnv: "KEY"},
		"claude":  {Provider: "anthropic", Name: "claude"},
		"gateway": {Provider: "anthropic", Name: "claude", BaseURL: "http://127.0.0.1:1"},
		"chat":    {Provider: "openai", Name: "gpt"},
		"router":  {Provider: "openrouter", Name: "maker/model", KeyEnv: "ROUTER"},
		"ollama":  {Provider: "ollama", Name: "qwen3:8b", BaseURL: "http://localhost:11434"},
		"server":  {Provider: "llamacpp", Name: "m", BaseURL: "http://127.0.0.1:8080"},
		"program": {Name: "program"},
		"script":  {Name: "script"},
		"gone":    {Name: "gone"},
	} {
		if got := s.jpModel(name); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}
