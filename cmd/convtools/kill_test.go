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

// killedScript has a root conversation that creates two others in one response, and then sends a message to the first
// of them. This first one creates another conversation.
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

// killable makes a home directory in which killedScript is the model, and a project. It returns the environment of
// programs there, the project, and the directory of session logs.
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

// A query is killed at random, and so are the processes that resume its session. In the end the histories are those
// without a kill, so the answer is the same and no call has two outputs.
func TestKilledQuery(t *testing.T) {
	t.Parallel()
	env, project, logs := killable(t)
	// run returns the id of the session, the last event that was printed, and whether it killed the process. It kills the
	// process after so many events, and never if events is negative. The question is in the log when the fourth event is
	// printed.
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
	id, last, _ := run(-1, "query", "--json", "Plan")
	if answer := "The plan: the Adler (four stars), at nine, ninety"; last["type"] != "task_complete" || last["last_assistant_message"] != answer {
		t.Fatalf("without a kill it ends with %v", last)
	}
	want := histories(id)
	for killedCount := 0; killedCount < *kills; {
		id, _, killed := run(4+rand.IntN(30), "query", "--json", "Plan")
		for range 3 {
			if !killed {
				break
			}
			killedCount++
			_, _, killed = run(1+rand.IntN(12), "session", "resume", "--json", id)
		}
		run(-1, "session", "resume", "--json", id)
		if diff := cmp.Diff(want, histories(id)); diff != "" {
			t.Fatalf("session %s (-want +got):\n%s", id, strings.TrimSpace(diff))
		}
	}
}
