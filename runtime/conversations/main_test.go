package conversations_test

import (
	"flag"
	"os"
	"strconv"
	"testing"

	"github.com/convtools/convtools/runtime/base/cases"
	"github.com/convtools/convtools/runtime/store/postgres/postgrestest"
)

var cluster postgrestest.Cluster

func TestMain(m *testing.M) { os.Exit(stopping{m}.Run()) }

// stopping is tests that stop the server at their end, while its directory is there.
type stopping struct{ *testing.M }

func (m stopping) Run() int {
	defer cluster.Stop()
	if err := flag.Set("rapid.checks", strconv.Itoa(cases.Of(10))); err != nil {
		panic(err)
	}
	return m.M.Run()
}
