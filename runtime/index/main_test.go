package index_test

import (
	"flag"
	"os"
	"strconv"
	"testing"

	"github.com/convtools/convtools/runtime/base/cases"
)

func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", strconv.Itoa(cases.Of(40))); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
