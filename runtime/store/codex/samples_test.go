package codex_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/codex"
	"github.com/convtools/convtools/runtime/store/internal/storetest"
)

// samples is a folder with histories that the real program wrote, beside the
// repository. The tests that need it are skipped where it is missing.
const samples = "../../../../shared/data/histories"

// What the real program wrote, as a person reads the files: for each thread its title
// and, turn by turn, what happened: u is the user, r reasoning, a the assistant, c a
// call, t a result, ! one that failed, | a compaction. Turns in brackets are copies.
func TestSamples(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ version, dir, want string }{
		{"0.98.0", "/home/mina/proj/tide_import.v2", `
codex-01a1ffd7-7b57-7ca0-9fa0-3b693e56b89f "Which stations are in the list?" uracta ucctt!a ucta ucta u
codex-01a1ffdf-6c9c-74c2-93bf-f1e68adc0ddb "Ask the probe" ucctta
codex-01a1ffe1-2678-7ad0-a969-ef2cd0a3ed77 "Ask the probe" ucctta
`},
		{"0.130.0", "/home/mina/proj/tide_import.v2", `
codex-01a1ffd8-bcaf-7820-9f24-9b3a41ea86b0 "Which stations are in the list?" uracta ucctt!a
codex-01a1ffd8-c5be-7603-bfe4-a38c16d6b36b "Which stations are in the list?" uracta ua
codex-01a1ffd8-c7aa-7ca0-8e9a-99ab67ec1b23 "Which stations are in the list?" of codex-01a1ffd8-c5be-7603-bfe4-a38c16d6b36b [uracta] [ucctt!a] ua
codex-01a1ffdf-7125-75b3-b1ce-f07f5c8977b2 "Ask the probe" ucctta
codex-01a1ffe1-1752-7192-9274-c11f6b4ed889 "Ask the probe" ucctta
`},
		{"0.169.0", "/home/mina/proj/tide_import.v2", `
codex-01a1ffce-f7a5-72c3-a2bc-98f82168470a "Which stations are in the list?" uracta ucctt!a ucta ucta u uaa
codex-01a1ffd0-f088-7cb2-a170-f0e0338c4b59 "Stations of the tide import" uracta ua uactct| ua ua
codex-01a1ffd0-f24e-7c93-badb-b8a418d4fbbd "Stations of the tide import" of codex-01a1ffd0-f088-7cb2-a170-f0e0338c4b59 [uracta] [ua] ucctt!a
codex-01a1ffd0-f397-74c0-b4d4-4452d8992bcf "Inner task: count the stations in stations.txt." of codex-01a1ffd0-f088-7cb2-a170-f0e0338c4b59 acta
codex-01a1ffd0-fccc-7042-a95b-3125cbb8a3ae "This one will be archived" archived ua
codex-01a1ffd3-dc43-7851-b310-fab35ab4be5d "Ask the probe" ucctta
codex-01a1ffdf-27c4-7140-8f46-d895133ab52f "Ask the probe" ucctta
codex-01a1ffe3-678a-78b2-b6fc-0fecc2ce8c42 "Which stations are in the list?" uracta ua
`},
		{"0.169.0", "/home/mina/proj/tide-import-v2", `
codex-01a1ffd9-6241-7a60-aa35-07543c26a239 "A short remark" ua
`},
	} {
		t.Run(test.version+" "+filepath.Base(test.dir), func(t *testing.T) {
			t.Parallel()
			home := filepath.Join(samples, "codex-"+test.version)
			if _, err := os.Stat(home); err != nil {
				t.Skip("there are no recorded samples: ", err)
			}
			s, ok := codex.Open(store.Options{Project: in(test.dir), Getenv: env(map[string]string{"CODEX_HOME": filepath.Join(home, ".codex")})})
			if !ok {
				t.Fatal("there is no store")
			}
			found, problems := list(t, s, store.Live|store.Archived)
			if len(problems) > 0 {
				t.Error(problems)
			}
			got := "\n"
			for _, c := range found {
				got += fmt.Sprintf("%s %q", c.ID, storetest.Called(c))
				if c.Parent != "" {
					got += " of " + string(c.Parent)
				}
				if c.Archived {
					got += " archived"
				}
				got += storetest.Turns(t, c) + "\n"
				if again, err := find(t, s, c.ID); err != nil || storetest.Called(again) != storetest.Called(c) || again.CreatedAt != c.CreatedAt {
					t.Errorf("Find: %+v, %v; List: %+v", again, err, c)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A thread is read as by a naive reader, which has all of it in memory.
func TestNaive(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		lines := []line{h.meta(1), user("first")}
		turns := [][]string{{"user: first"}} // what was said in each
		say := func(s string) { turns[len(turns)-1] = append(turns[len(turns)-1], s) }
		for i := range r.IntN(30) {
			said := fmt.Sprintf("text %d", i)
			switch r.IntN(7) {
			case 0, 1:
				lines = append(lines, item("message", line{"role": "user", "content": said}), user(said))
				turns = append(turns, []string{"user: " + said})
			case 2:
				lines = append(lines, assistant(said))
				say("assistant: " + said)
			case 3:
				lines = append(lines, call("c", "T", `{"a":"`+said+`"}`))
				say(`tool_call T: { "a": "` + said + `" }`)
			case 4:
				lines = append(lines, result("c", said))
				say("tool_result: " + said)
			case 5:
				lines = append(lines, record("turn_context", line{"cwd": "/"}), event("token_count", line{}))
			case 6:
				if n := 1 + r.IntN(3); n < len(turns) {
					lines = append(lines, event("thread_rolled_back", line{"num_turns": n}))
					turns = turns[:len(turns)-n]
				}
			}
		}
		var want strings.Builder
		for n, turn := range turns {
			for _, said := range turn {
				fmt.Fprintf(&want, "%d %s\n", n+1, said)
			}
		}
		h.thread(1, lines...)
		if diff := cmp.Diff(want.String(), said(t, h.only())); diff != "" {
			t.Fatalf("seed %d: %s\n%s", seed, diff, text(lines...))
		}
	}
}

// Whatever is in the file: reading it twice gives the same, in valid UTF-8, and never
// panics.
func FuzzThread(f *testing.F) {
	f.Add([]byte(text(user("Go"), call("c", "request_user_input", `{"questions":[{"question":"q"}]}`), result("c", `{"output":"x","metadata":{"exit_code":1}}`), event("thread_rolled_back", line{"num_turns": 1}))), false)
	f.Add([]byte(text(completed("UserMessage", line{"content": []line{{"type": "text", "text": "Go"}}}), completed("Reasoning", line{"summary_text": []string{"a"}}), record("compacted", line{}))), true)
	f.Add([]byte(text(line{"type": "message", "role": "user", "content": "bare"}, item("local_shell_call", line{"action": line{"command": 1}}), item("function_call_output", line{"output": line{"content": "x", "success": false}}))), false)
	f.Fuzz(func(t *testing.T, data []byte, paginated bool) {
		h := newHome(t)
		mode := "legacy"
		if paginated {
			mode = "paginated"
		}
		h.write(rollout(1), text(h.meta(1, "history_mode", mode, "forked_from_id", uuid(2)))+string(data))
		h.write(rollout(2), text(h.meta(2))+string(data))
		found, _ := list(t, h.open(), store.Live)
		for _, c := range found {
			storetest.CheckReading(t, c)
		}
	})
}
