package claudecode_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/claudecode"
	"github.com/convtools/convtools/runtime/store/internal/storetest"
	"github.com/convtools/convtools/runtime/transcript"
)

// samples is a folder with histories that the real program wrote, beside the
// repository. The tests that need it are skipped where it is missing.
const samples = "../../../../shared/data/histories"

// What the real program wrote, as a person reads the files: for each conversation its
// title and, turn by turn, what happened: u is the user, r reasoning, a the assistant,
// c a call, t a result, ! one that failed, q a question or its answer, | a compaction.
// Turns in brackets are copies.
func TestSamples(t *testing.T) {
	t.Parallel()
	long := "/home/mina/proj"
	for n := range 12 {
		long += fmt.Sprintf("/a-long-folder-name-%02d", n)
	}
	for _, test := range []struct{ version, dir, want string }{
		{"2.1.197", "/home/mina/proj/tide_import.v2", `
claude-0094ac21-13ab-4d1b-ad39-c5a1f7857783 "Stations of the tide import" uacct!ta
claude-0185cb11-9b78-4a81-8182-c302aea35144 "Find the slow tide import" ucctta ucctta
claude-0e1a0909-e729-404b-b2be-e489ee00b2fd "wait for me" u
claude-5afd8764-1e4a-4af6-951b-d71a909fd1bc "Stations of the tide import" uractaa uct!a uct!a
claude-66f8861d-89ee-4c37-869b-37743f77af20 "Ask me" uaqqa
claude-95ac981a-270f-4931-b8eb-10d45b360c5d "Look at the picture" ucctta
claude-98e25088-1808-4228-b1a0-cb153d88e332 "Which stations are in the list?" uracta uacctt!a ucta uacta u| uracta
claude-9b4e5625-a34b-41de-8ec1-ef8e133ac480 "Ask the probe" ucctta
claude-a8f93c43-5e4b-488f-904d-1f4401d9d19b "Find the slow tide import" ucctta
claude-c18b3a47-92d1-41c8-b80d-2b3875795603 "Which stations are in the list?" of claude-98e25088-1808-4228-b1a0-cb153d88e332 [uracta] [uacctt!a] [ucta] [uacta] [u] uacctt!a ucctta ucctta ucctta
claude-e4bc67be-41c0-4111-9ac2-6fa221614ace "wait for me, too" u
claude-f0db6618-a71d-4664-a346-e90e6c2d3247 "A short remark" ua
claude-98e25088-1808-4228-b1a0-cb153d88e332.a7d54dfb1140b49ab "Count stations" of claude-98e25088-1808-4228-b1a0-cb153d88e332 acta
`},
		{"2.1.197", "/home/mina/proj/tide-import-v2", `
claude-e06790c7-95a1-4a91-b299-d2b11c0351a0 "A short remark" ua
`},
		{"2.1.197", "/home/mina", `
claude-26ef4060-c766-4f15-b8fb-3190b08f500a "A short remark" ua
`},
		{"2.1.197", "/home/mina/proj/Gezeiten ü 名", `
claude-d684852f-b615-4b05-ad56-2ef6fa029f04 "A short remark" ua
`},
		{"2.1.197", long, `
claude-e4b01712-cd2e-43cf-a05e-48fb0085cd0a "A short remark" ua
`},
		{"2.0.60", "/home/mina/proj/tide_import.v2", `
claude-841831a5-eb62-4dd7-bc53-19b1498c2055 "Which stations are in the list?" uracta uacctt!a uacta ucta| uct!a
claude-841831a5-eb62-4dd7-bc53-19b1498c2055.05e24a4f "" of claude-841831a5-eb62-4dd7-bc53-19b1498c2055 cta
`},
	} {
		t.Run(test.version+" "+filepath.Base(test.dir), func(t *testing.T) {
			t.Parallel()
			home := filepath.Join(samples, "claude-code-"+test.version)
			if _, err := os.Stat(home); err != nil {
				t.Skip("there are no recorded samples: ", err)
			}
			s, ok := claudecode.Open(store.Options{Project: in(test.dir), Getenv: env(map[string]string{"CLAUDE_CONFIG_DIR": filepath.Join(home, ".claude")})})
			if !ok {
				t.Fatal("there is no store")
			}
			found, problems := list(t, s)
			if len(problems) > 0 {
				t.Error(problems)
			}
			got := "\n"
			for _, c := range found {
				got += fmt.Sprintf("%s %q", c.ID, storetest.Called(c))
				if c.Parent != "" {
					got += " of " + string(c.Parent)
				}
				got += storetest.Turns(t, c) + "\n"
				if again, err := find(t, s, c.ID); err != nil || storetest.Called(again) != storetest.Called(c) || again.Parent != c.Parent || again.CreatedAt != c.CreatedAt {
					t.Errorf("Find: %+v, %v; List: %+v", again, err, c)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Real calls are from the sessions that have them.
func TestCallerSamples(t *testing.T) {
	t.Parallel()
	home := filepath.Join(samples, "claude-code-2.1.197", ".claude")
	if _, err := os.Stat(home); err != nil {
		t.Skip("there are no recorded samples: ", err)
	}
	s, ok := claudecode.Open(store.Options{Project: in("/home/mina/proj/tide_import.v2"), Getenv: env(map[string]string{"CLAUDE_CONFIG_DIR": home})})
	if !ok {
		t.Fatal("there is no store")
	}
	for useID, want := range map[string]string{
		"toolu_01Fake0001180": "0185cb11-9b78-4a81-8182-c302aea35144", // before the session was gone on with
		"toolu_01Fake0001200": "0185cb11-9b78-4a81-8182-c302aea35144",
		"toolu_01Fake0000320": "9b4e5625-a34b-41de-8ec1-ef8e133ac480",
		"toolu_01Fake0001150": "a8f93c43-5e4b-488f-904d-1f4401d9d19b", // after /clear
		"toolu_01Fake0001050": "c18b3a47-92d1-41c8-b80d-2b3875795603",
	} {
		if got := s.Caller(t.Context(), calledBy(useID)); got.Evidence != store.ByCall || len(got.IDs) != 1 || got.IDs[0] != "claude-"+transcript.ID(want) {
			t.Errorf("%s: %+v, want %s", useID, got, want)
		}
	}
}
