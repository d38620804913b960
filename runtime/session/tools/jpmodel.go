package tools

import (
	"net/url"
	"strings"

	"github.com/convtools/convtools/runtime/model/configured"
	"github.com/convtools/convtools/runtime/store/jp"
)

// jpModel returns what JP calls the model that is configured under a name: one that has a provider in JP by that and by
// what the provider calls it, and any other by its name here.
func (s *Sessions) jpModel(name string) jp.Model {
	chosen, err := configured.Choose(s.Config, name)
	if err != nil { // it is not configured any more
		return jp.Model{Name: name}
	}
	if !chosen.HTTP() {
		return jp.Model{Name: chosen.Name}
	}
	at := chosen.Is
	u, err := url.Parse(at.BaseURL)
	if err != nil {
		u = &url.URL{}
	}
	own := map[string]string{ // of the providers that JP has
		"api.openai.com": "openai", "api.anthropic.com": "anthropic", "openrouter.ai": "openrouter", "api.cerebras.ai": "cerebras",
		"api.deepseek.com": "deepseek", "generativelanguage.googleapis.com": "google",
	}
	m := jp.Model{
		Provider: own[u.Hostname()], Name: at.Model, KeyEnv: at.KeyEnv,
		BaseURL: strings.TrimSuffix(strings.TrimRight(at.BaseURL, "/"), "/v1"), // which JP adds
	}
	const ollamaPort = "11434"
	switch {
	case m.Provider != "":
		m.BaseURL = ""
	case at.API == "messages":
		m.Provider = "anthropic"
	case at.API == "responses" || at.BaseURL == "":
		m.Provider = "openai"
	case u.Port() == ollamaPort:
		m.Provider, m.KeyEnv = "ollama", ""
	default: // which any server with Chat Completions answers
		m.Provider, m.KeyEnv = "llamacpp", ""
	}
	return m
}
