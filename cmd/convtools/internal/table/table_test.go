package table_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/cmd/convtools/internal/table"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	kept := table.Row{Name: "kept", Result: "1.50x of a peer", Detail: "3 ms; peer 2 ms"}
	kept.AtMost(1.5, 1.5)
	missed := table.Row{Name: "missed", Result: "1.67x of a peer", Detail: "5 ms; peer 3 ms"}
	missed.AtMost(1.67, 1.5)
	for _, test := range []struct {
		rows []table.Row
		want string
	}{
		{[]table.Row{kept}, `
MEASURED  RESULT           BOUND         ABSOLUTE
kept      1.50x of a peer  at most 1.5x  3 ms; peer 2 ms

bounds missed: 0
`},
		{[]table.Row{kept, {Name: "information", Detail: "8 MB"}, missed}, `
MEASURED     RESULT           BOUND                ABSOLUTE
kept         1.50x of a peer  at most 1.5x         3 ms; peer 2 ms
information                                        8 MB
missed       1.67x of a peer  at most 1.5x MISSED  5 ms; peer 3 ms

bounds missed: 1
`},
	} {
		var tab table.Table
		for _, row := range test.rows {
			tab.Add(row)
		}
		var b bytes.Buffer
		if err := tab.Write(&b); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, "\n"+b.String()); diff != "" {
			t.Errorf("table (-want +got):\n%s", diff)
		}
	}
}
