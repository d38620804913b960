package jp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestBaseConfig tests that a new conversation gets the model, the providers and the rule for tools of
// JP's configuration, or else the model that was asked.
func TestBaseConfig(t *testing.T) {
	t.Parallel()
	const (
		global  = "config/jp/config.toml"
		project = "project/.jp/config.toml"
		user    = "data/workspace/project-" + testID + "/config.toml"
	)
	asked := Model{Provider: "llamacpp", Name: "qwen:8b", BaseURL: "http://127.0.0.1:9000"}
	const ask = `"conversation":{"tools":{"*":{"run":"ask"}}}`
	for name, test := range map[string]struct {
		files map[string]string
		asked Model
		want  string
	}{
		"nothing": {
			asked: asked,
			want:  `{"assistant":{"model":{"id":{"provider":"llamacpp","name":"qwen:8b"}}},"providers":{"llm":{"llamacpp":{"base_url":"http://127.0.0.1:9000"}}},` + ask + `}`,
		},
		"a key": {
			asked: Model{Provider: "openai", Name: "gpt", KeyEnv: "KEY"},
			want:  `{"assistant":{"model":{"id":{"provider":"openai","name":"gpt"}}},"providers":{"llm":{"openai":{"api_key_env":"KEY"}}},` + ask + `}`,
		},
		"no provider that JP has": {asked: Model{Name: "a/b"}, want: `{"assistant":{"model":{"id":"a-b"}},` + ask + `}`},
		"no name":                 {asked: Model{Provider: "openai"}, want: `{"assistant":{"model":{"id":"unknown"}},` + ask + `}`},
		"a name that JP has not":  {asked: Model{Provider: "openai", Name: "a b"}, want: `{"assistant":{"model":{"id":"a b"}},` + ask + `}`},
		"the project's": {
			files: map[string]string{project: "[assistant]\nname = \"x\"\nmodel.id = \"opus\"\n[conversation.tools.'*']\nrun = \"unattended\"\n[conversation.tools.x]\nsource = \"local\"\n[providers.llm.openai]\nbase_url = \"http://h\"\n[providers.mcp.x]\ncommand = \"y\"\n"},
			asked: asked,
			want:  `{"assistant":{"model":{"id":"opus"}},"conversation":{"tools":{"*":{"run":"unattended"}}},"providers":{"llm":{"openai":{"base_url":"http://h"}}}}`,
		},
		"only providers": {
			files: map[string]string{project: "[providers.llm.openai]\nbase_url = \"http://h\"\n"},
			asked: asked,
			want:  `{"assistant":{"model":{"id":{"provider":"llamacpp","name":"qwen:8b"}}},"providers":{"llm":{"openai":{"base_url":"http://h"},"llamacpp":{"base_url":"http://127.0.0.1:9000"}}},` + ask + `}`,
		},
		"the last of several": {
			files: map[string]string{
				global:             "[assistant.model]\nid = {provider = \"openai\", name = \"a\"}\nparameters.max_tokens = 7\n",
				project:            "[assistant.model]\nid = \"openai/b\"\n",
				"project/.jp.toml": "[assistant.model]\nid = \"openai/c\"\n",
				user:               "[assistant.model]\nid = \"openai/d\"\n",
			},
			want: `{"assistant":{"model":{"id":"openai/d","parameters":{"max_tokens":7}}},` + ask + `}`,
		},
		"not inherited": {
			files: map[string]string{global: "[assistant.model]\nid = \"openai/a\"\n", project: "inherit = false\n[assistant.model]\nid = \"openai/b\"\n", user: "[assistant.model]\nid = \"openai/d\"\n"},
			want:  `{"assistant":{"model":{"id":"openai/b"}},` + ask + `}`,
		},
		"damaged": {files: map[string]string{project: "[assistant"}, asked: Model{Name: "demo"}, want: `{"assistant":{"model":{"id":"demo"}},` + ask + `}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			for file, text := range test.files {
				f.write(file, text)
			}
			getenv := func(name string) string {
				if name == "JP_GLOBAL_CONFIG_DIR" {
					return filepath.Join(f.base, "config", "jp")
				}
				return f.getenv(name)
			}
			w, err := Open(Options{Dir: f.root, Getenv: getenv})
			if err != nil {
				t.Fatal(err)
			}
			var got, want any
			if err := json.Unmarshal(w.baseConfig(test.asked), &got); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(test.want), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestBaseConfigOutside tests that the configuration of a project is not read from outside of it.
func TestBaseConfigOutside(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("secret.toml", "[assistant.model]\nid = \"openai/secret\"\n")
	if err := os.Symlink(filepath.Join(f.base, "secret.toml"), filepath.Join(f.root, ".jp", "config.toml")); err != nil {
		t.Skip(err)
	}
	if data := string(f.open().baseConfig(Model{Name: "demo"})); strings.Contains(data, "secret") {
		t.Error(data)
	}
}

func TestGlobalConfigDir(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		env  map[string]string
		want string
	}{
		{nil, ""},
		{map[string]string{"HOME": "/h"}, "/h/.config/jp"},
		{map[string]string{"HOME": "/h", "XDG_CONFIG_HOME": "/c"}, "/c/jp"},
		{map[string]string{"HOME": "/h", "XDG_CONFIG_HOME": "c"}, "/h/.config/jp"},
		{map[string]string{"HOME": "/h", "JP_GLOBAL_CONFIG_DIR": "~/g"}, "/h/g"},
	} {
		if runtime.GOOS != "linux" {
			t.Skip("the directories are those of Linux")
		}
		if got := globalConfigDir(func(name string) string { return test.env[name] }); got != test.want {
			t.Errorf("%v: %q, want %q", test.env, got, test.want)
		}
	}
}
