//go:build unix && !solaris && !aix

package conversationcli_test

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/convtools/convtools/runtime/store/jp/jptest"
)

// TestKept has a JP read a conversation before each command changes it, and write it afterwards, also where several are
// changed together.
func TestKept(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		args string
		want string // in what is listed of it
	}{
		{"edit 17600000000 17610000000 --yes --title New", `"title":"New"`},
		{"edit 17600000000 --yes --hide", `"hidden":true`},
		{"label add --id 17600000000 --yes mine", `"mine":""`},
		{"label rm --id 17600000000 --yes area decision", `"labels":{"theirs":""}`},
	} {
		t.Run(tc.args, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			user := filepath.Join(dir, "no-user-data", "workspace", filepath.Base(dir)+"-tests")
			if err := writeSample(dir, filepath.Join(dir, "no-user-data")); err != nil {
				t.Fatal(err)
			}
			var stdout, stderr bytes.Buffer
			host := testHost(dir, &stdout, &stderr)
			synctest.Test(t, func(t *testing.T) {
				changed := make(chan int)
				jp := jptest.JP{Project: filepath.Join(dir, ".jp"), User: user, Now: time.Now, Read: func() {
					go func() { changed <- execute(context.Background(), host, dir, strings.Fields(tc.args)...) }()
					synctest.Wait() // until the command waits for what becomes of its change
				}}
				if err := jp.Label("jp-c17600000000", "theirs", ""); err != nil {
					t.Error(err)
				}
				if code := <-changed; code != 0 {
					t.Errorf("exit %d: %s", code, stderr.String())
				}
			})
			got := run(t, dir, "ls", "--hidden", "--format=json", "17600000000").stdout
			if !strings.Contains(got, tc.want) || !strings.Contains(got, `"theirs":""`) {
				t.Errorf("want %s in %s", tc.want, got)
			}
		})
	}
}
