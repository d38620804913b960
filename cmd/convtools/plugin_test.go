package main

import (
	"encoding/json"
	"os"
	"testing"
)

// TestPluginVersion holds the versions of the plugin's manifests against that of
// the program: hosts update a plugin whose version has changed.
func TestPluginVersion(t *testing.T) {
	t.Parallel()
	for _, file := range []string{".claude-plugin/plugin.json", "gemini-extension.json", "manifest.json"} {
		text, err := os.ReadFile("../../generated/plugin/" + file)
		if err != nil {
			t.Fatal(err)
		}
		var manifest struct{ Version string }
		if err := json.Unmarshal(text, &manifest); err != nil {
			t.Fatal(err)
		}
		if manifest.Version != version {
			t.Errorf("%s has version %q, the program %q: change tools.toml", file, manifest.Version, version)
		}
	}
}
