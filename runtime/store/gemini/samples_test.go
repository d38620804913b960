package gemini_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/gemini"
	"github.com/convtools/convtools/runtime/store/internal/storetest"
	"github.com/convtools/convtools/runtime/store/project"
)

// samples is a folder with histories that the real program wrote, beside the
// repository. The tests that need it are skipped where it is missing.
const samples = "../../../../shared/data/histories"

// What the real program wrote, as a person reads the files: for each session its title
// and, turn by turn, what happened, as [storetest.Turns] has it.
func TestSamples(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ version, dir, want string }{
		{"0.61.0", "/home/mina/proj/tide_import.v2", `
gemini-2c154aa7-742d-46ce-af44-de020dbaa17b "I look into the file." uracta uactct!a uacta u ua
gemini-83112a12-3b74-4f73-8ca0-10d3fce13c2b "Which stations are in the list" uracta ua| ua u
gemini-b511b9e9-2c67-4959-97a0-c85ed96fb6f6 "A short remark" ua
gemini-f745fe8f-30dd-4d93-8e16-fd47171f3519 "Ask the probe" uctcta
gemini-2c154aa7-742d-46ce-af44-de020dbaa17b.66d2e2ea-b54c-4e2e-b4a3-e24ebede7fac "Your task is to do a deep investigation of the codebase to find all relevant files, code locations, architectural mental map and insights to solve for the following user objective:\n<objective> Inner task: count the stations </objective>" of gemini-2c154aa7-742d-46ce-af44-de020dbaa17b act` + strings.Repeat("ct!", 49) + ` aa
`},
		{"0.61.0", "/home/mina/proj/tide-import-v2", `
gemini-27f76a9f-a215-48d3-89b7-9ffbabe28a5f "A short remark" ua
`},
		{"0.61.0", "/home/mina/proj/Gezeiten ü 名", `
gemini-47e39a22-7130-4c11-a909-9dcb3ee3cb5d "A short remark" ua
`},
		{"0.61.0", "/home/mina", `
gemini-1c24d903-0df2-405a-b7c6-dabc1bcf5b77 "A short remark" ua
`},
	} {
		t.Run(test.version+" "+filepath.Base(test.dir), func(t *testing.T) {
			t.Parallel()
			home := filepath.Join(samples, "gemini-cli-"+test.version, ".gemini")
			if _, err := os.Stat(home); err != nil {
				t.Skip("there are no recorded samples: ", err)
			}
			s, ok := gemini.Open(store.Options{Home: home, Project: project.New(project.Options{Dir: test.dir})})
			if !ok {
				t.Fatal("there is no store")
			}
			if diff := cmp.Diff(test.want, "\n"+storetest.Listing(t, s)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
