package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/session/log"
)

var kills = flag.Int("kills", 6, "how many processes TestKilledQuery kills")

// killedScript has a root that creates two conversations in one response, the first of which creates a third, and then
// sends to the first.
const killedScript = `
[[conversation]]
first = "Plan"

[[conversation.response]]
calls = [
	{ tool = "conv.create", arguments = { user_instruction = "Hotels" } },
	{ tool = "conv.create", arguments = { user_instruction = "Trains" } },
]

[[conversation.response]]
calls = [{ tool = "conv.send", arguments = { conversation_id = "${output.1.conversation_id}", text = "Prices" } }]

[[conversation.response]]
pieces = ["The plan: ", "${output.1.last_assistant_message}, ", "${output.2.last_assistant_message}, ", "${output.last_assistant_message}"]

[[conversation]]
first = "Hotels"

[[conversation.response]]
calls = [{ tool = "conv.create", arguments = { user_instruction = "Ratings" } }]

[[conversation.response]]
text = "the Adler (${output.last_assistant_message})"

[[conversation.response]]
text = "ninety"

[[conversation]]
first = "Ratings"

[[conversation.response]]
pieces = ["four ", "stars"]

[[conversation]]
first = "Trains"

[[conversation.response]]
text = "at nine"
`

// killable is a home where killedScript is configured as the model.
func killable(t *testing.T) (env []string, project, logs string) {
	t.Helper()
	home, project := t.TempDir(), t.TempDir()
	config := filepath.Join(home, "config")
	for name, content := range map[string]string{
		"convtools/convtools.toml": "[model.plan]\napi = \"scripted\"\nscript = \"plan.toml\"\n",
		"convtools/plan.toml":      killedScript,
	} {
		path := filepath.Join(config, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	data := filepath.Join(home, "data")
	env = append(os.Environ(), "HOME="+home, "USERPROFILE="+home, "XDG_CONFIG_HOME="+config, "AppData="+config, "XDG_DATA_HOME="+data)
	return env, project, filepath.Join(data, "convtools", "sessions")
}

var anID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// A query that is killed at random, and its resumption too, comes to the answer that it comes to otherwise, and no call
// has an output twice.
func TestKilledQuery(t *testing.T) {
	t.Parallel()
	env, project, logs := killable(t)
	// run returns the id of the session and the last event that was printed; with events, the process is killed after so
	// many. The fourth is printed when the question is in the log.
	run := func(events int, args ...string) (id string, last map[string]any, killed bool) {
		t.Helper()
		c := exec.Command("convtools", args...) // the test binary, see TestMain
		c.Dir, c.Env, c.Stderr = project, env, os.Stderr
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		in := bufio.NewScanner(out)
		in.Buffer(nil, 1<<20)
		for events != 0 && in.Scan() {
			events--
			last = nil
			if err := json.Unmarshal(in.Bytes(), &last); err != nil {
				t.Errorf("%s: %v", in.Bytes(), err)
			}
			id, _ = last["session_id"].(string)
		}
		if events == 0 {
			killed = c.Process.Kill() == nil
		}
		if err := c.Wait(); err != nil && !killed {
			t.Fatalf("%v: %v", args, err)
		}
		return id, last, killed
	}
	histories := func(id string) []string {
		t.Helper()
		state, _, err := log.Load(logs, id)
		if err != nil || !state.Idle() {
			t.Fatal(err)
		}
		var lines []string
		for c := range state.Conversations() {
			for _, item := range c.Items() {
				line := string(item.Kind) + " " + item.CallID + " " + item.Output
				for _, p := range item.Parts {
					line += p.Text
				}
				lines = append(lines, anID.ReplaceAllString(line, "ID"))
			}
		}
		return lines
	}
	whole, last, _ := run(-1, "query", "--json", "Plan")
	if answer := "The plan: the Adler (four stars), at nine, ninety"; last["type"] != "task_complete" || last["last_assistant_message"] != answer {
		t.Fatalf("without a kill it ends with %v", last)
	}
	want := histories(whole)
	for killed := 0; killed < *kills; {
		id, _, was := run(4+rand.IntN(30), "query", "--json", "Plan")
		for range 3 {
			if !was {
				break
			}
			killed++
			_, _, was = run(1+rand.IntN(12), "session", "resume", "--json", id)
		}
		run(-1, "session", "resume", "--json", id)
		if diff := cmp.Diff(want, histories(id)); diff != "" {
			t.Fatalf("session %s (-want +got):\n%s", id, strings.TrimSpace(diff))
		}
	}
}
