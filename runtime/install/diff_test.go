package install_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/install"
)

func TestDiff(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("home/.cursor/mcp.json", "{\r\n  \"mcpServers\": {}\r\n}")
	change, err := install.PlanInstall(host(t, "cursor"), d.opts)
	if err != nil {
		t.Fatal(err)
	}
	want := `--- /WORK/home/.cursor/mcp.json
+++ /WORK/home/.cursor/mcp.json
@@ -1,3 +1,8 @@
 {
-  "mcpServers": {}
+  "mcpServers": {
+    "convtools": {
+      "command": "/opt/bin/convtools",
+      "args": ["mcp", "--workspace", "${workspaceFolder}"]
+    }
+  }
 }
\ No newline at end of file
`
	if diff := cmp.Diff(want, strings.ReplaceAll(change.Diff(), d.dir, "/WORK")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !bytes.Contains(change.Files[0].After, []byte("\r\n")) {
		t.Error("the file lost its line ends")
	}
}

// TestDiffOfLongLines has everything on one line, as some programs write it: what other entries hold is nobody's
// business.
func TestDiffOfLongLines(t *testing.T) {
	t.Parallel()
	const secret = "sk-0123456789"
	d := newDesk(t)
	d.write("home/.cursor/mcp.json", `{"mcpServers":{"other":{"env":{"TOKEN":"`+secret+`","A":"abcdef"},"command":"npx"}},"theme":"x"}`)
	for diff, want := range map[string]string{
		d.install("cursor").Diff():   "+\"mcpServers\": {\n+  \"convtools\": {\n+    \"command\": \"/opt/bin/convtools\",\n+    \"args\": [\"mcp\", \"--workspace\", \"${workspaceFolder}\"]\n+  }\n+}\n",
		d.uninstall("cursor").Diff(): "-mcpServers.convtools\n",
	} {
		if strings.Contains(diff, secret) || !strings.HasSuffix(diff, "is not shown @@\n"+want) {
			t.Errorf("diff:\n%s", diff)
		}
	}
}

// TestDiffShowsNewFilesWhole has long lines in files that are not there yet.
func TestDiffShowsNewFilesWhole(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	change := d.install("jp")
	diff := change.Diff()
	for i := range change.Files {
		f := &change.Files[i]
		for line := range strings.Lines(string(f.After)) {
			if !strings.Contains(diff, "+"+line) {
				t.Errorf("%s: the diff does not show %q", filepath.Base(f.Path), line)
			}
		}
	}
}
