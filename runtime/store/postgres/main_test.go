package postgres_test

import (
	"os"
	"testing"

	"github.com/convtools/convtools/runtime/store/postgres/postgrestest"
)

var cluster postgrestest.Cluster

func TestMain(m *testing.M) {
	code := m.Run()
	cluster.Stop()
	os.Exit(code)
}
