package opencode_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/storetest"
	"github.com/convtools/convtools/runtime/store/opencode"
	"github.com/convtools/convtools/runtime/store/project"
)

// samples is a folder with histories that the real program wrote, beside the
// repository. Where it is missing, what is checked with them is skipped.
const samples = "../../../../shared/data/histories"

// What the real program wrote, as a person reads the rows of the database: for each
// session its title and, turn by turn, what happened, as [storetest.Turns] has it.
func TestSamples(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ version, dir, want string }{
		{"1.18.33", "/home/mina/proj/tide_import.v2", `
opencode-ses_e001e3868ffeytH23Mi3i4noAk "Stations of the tide import" uqqa
opencode-ses_e001e5fb4ffe3DWUe20htf5NiR "Stations of the tide import" uracta uactct!ct!a| ua
opencode-ses_e0029a946ffeeSR0wz5IweudX5 "Stations of the tide import" uact uctcta
opencode-ses_e0029b758ffeGxl8OqwrxIZWPp "Stations of the tide import" ua
opencode-ses_e0029b9bbffefdHmhlCcXGpH5F "Archived by hand" archived ua
opencode-ses_e0029c7b1ffe0kB6ySEnvx4WYd "Stations of the tide import (fork #1)" of opencode-ses_e0029f25affekEzOuYHk34iXzz [uracta] [ua] [uactct!ct!a] ucta
opencode-ses_e0029f25affekEzOuYHk34iXzz "Stations of the tide import" uracta ua uactct!ct!a u
opencode-ses_e002bd4d1ffeMBigUCLO82myyM "Count stations (@general subagent)" of opencode-ses_e002d05cfffe2zEdz416bNOdYv acta
opencode-ses_e002d05cfffe2zEdz416bNOdYv "Stations of the tide import" uracta uctcta uactct!ct!a ucta uacta u
`},
		{"1.18.33", "/home/mina/proj/nogit", `
opencode-ses_e0026877bffejRIFEvmGuqvzny "Stations of the tide import" ua
`},
	} {
		t.Run(test.version+" "+filepath.Base(test.dir), func(t *testing.T) {
			t.Parallel()
			home := filepath.Join(samples, "opencode-"+test.version, ".local", "share", "opencode")
			if _, err := os.Stat(home); err != nil {
				t.Skip("there are no recorded samples: ", err)
			}
			s, ok := opencode.OpenCode.Open(store.Options{Home: home, Project: project.New(project.Options{Dir: test.dir})})
			if !ok {
				t.Fatal("there is no store")
			}
			if diff := cmp.Diff(test.want, "\n"+storetest.Listing(t, s)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
