package tools

import (
	"net/url"
	"strings"

	"github.com/convtools/convtools/runtime/model/configured"
	"github.com/convtools/convtools/runtime/store/jp"
)

// jpModel returns a configured model in JP's words. A model that JP cannot ask has only a name.
func (p *Project) jpModel(name string) jp.Model {
	chosen, err := configured.Choose(p.Config, name)
	if err != nil { // it is not configured any more
		return jp.Model{Name: name}
	}
	if !chosen.HTTP() {
		return jp.Model{Name: chosen.Name}
	}
	is := chosen.Is
	u, err := url.Parse(is.BaseURL)
	if err != nil {
		u = &url.URL{}
	}
	provider := map[string]string{
		"api.openai.com": "openai", "api.anthropic.com": "anthropic", "openrouter.ai": "openrouter",
		"api.cerebras.ai": "cerebras", "api.deepseek.com": "deepseek", "generativelanguage.googleapis.com": "google",
	}[u.Hostname()]
	if provider != "" {
		return jp.Model{Provider: provider, Name: is.Model, KeyEnv: is.KeyEnv}
	}
	base := strings.TrimSuffix(strings.TrimRight(is.BaseURL, "/"), "/v1") // JP adds it
	m := jp.Model{Name: is.Model, BaseURL: base, KeyEnv: is.KeyEnv}
	const ollamaPort = "11434"
	switch {
	case is.API == "messages":
		m.Provider = "anthropic"
	case is.API == "responses" || is.BaseURL == "":
		m.Provider = "openai"
	case u.Port() == ollamaPort:
		m.Provider, m.KeyEnv = "ollama", ""
	default: // JP asks any server with Chat Completions as llama.cpp
		m.Provider, m.KeyEnv = "llamacpp", ""
	}
	return m
}
