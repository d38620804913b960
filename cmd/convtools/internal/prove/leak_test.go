package prove

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/convtools/convtools/runtime/base/caller"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/model/modeltest"
	"github.com/convtools/convtools/runtime/session/tools"
	"github.com/convtools/convtools/runtime/toolset"
)

// No test of this package may leave anything running.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// After a call whose model hangs was canceled and another was handed off, the program ends. No goroutine of a session,
// of a model or of a connection to a model is left running.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	for _, api := range []string{"responses", "chat", "messages"} {
		t.Run(api, func(t *testing.T) {
			t.Parallel()
			hung := make(chan struct{}, 10)
			server := &modeltest.Server{
				Answer: modeltest.Sequence(
					modeltest.Answer{Pieces: []string{"yes"}},
					modeltest.Answer{Pieces: []string{"half ", "whole"}, Hang: func() { hung <- struct{}{} }},
				),
			}
			url := server.Start()
			home := t.TempDir()
			dir := filepath.Join(home, "config", "convtools")
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			config := fmt.Sprintf("[model.test]\napi = %q\nbase_url = %q\nmodel = \"test\"\nkey_env = \"MODEL_KEY\"\n", api, url)
			if err := os.WriteFile(filepath.Join(dir, "convtools.toml"), []byte(config), 0o600); err != nil {
				t.Fatal(err)
			}
			env := map[string]string{
				"HOME": home, "USERPROFILE": home, "XDG_CONFIG_HOME": filepath.Join(home, "config"), "AppData": filepath.Join(home, "config"),
				"XDG_DATA_HOME": filepath.Join(home, "data"), "MODEL_KEY": modeltest.Key,
			}
			registry, err := toolset.NewRegistry(tools.Family(&toolset.Host{
				Getenv: func(name string) string { return env[name] }, Now: time.Now, Dir: t.TempDir(), Name: "test",
			}))
			if err != nil {
				t.Fatal(err)
			}
			create := contract.Call{
				Tool: "conv.create", Arguments: json.RawMessage(`{"user_instruction":"go"}`),
				Context: contract.Context{Caller: caller.Caller{Client: "agent"}},
			}
			if _, err := registry.Call(t.Context(), create); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				<-hung
				cancel()
			}()
			if _, err := registry.Call(ctx, create); !errors.Is(err, context.Canceled) {
				t.Errorf("a call that is canceled: %v", err)
			}
			create.Arguments = json.RawMessage(`{"user_instruction":"go","wait_ms":0}`)
			if _, err := registry.Call(t.Context(), create); err != nil {
				t.Errorf("a call that is handed off: %v", err)
			}
			<-hung
			registry.Close()
			server.Close()
		})
	}
}
