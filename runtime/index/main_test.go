package index_test

import (
	"os"
	"testing"

	"github.com/convtools/convtools/runtime/base/memtemp"
)

func TestMain(m *testing.M) { os.Exit(memtemp.For(m).Run()) }
