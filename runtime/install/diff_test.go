package install_test

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/diff"

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

// TestDiffOfLongLines has everything on one line, as some programs write it:
// what other entries hold is nobody's business.
func TestDiffOfLongLines(t *testing.T) {
	t.Parallel()
	const secret = "sk-0123456789"
	other := `"other": {"command": "npx", "env": {"TOKEN": "` + secret + `"}, "args": [` + strings.Repeat(`"an argument", `, 40) + `"z"]}`
	d := newDesk(t)
	d.write("home/.cursor/mcp.json", `{"mcpServers": {`+other+`}, "more": [`+strings.Repeat(`"more", `, 40)+`"`+secret+`"]}`)
	for _, diff := range []string{d.install("cursor").Diff(), d.uninstall("cursor").Diff()} {
		if strings.Contains(diff, secret) {
			t.Errorf("the diff shows what is on the rest of the line:\n%s", diff)
		}
		if !strings.Contains(diff, `"convtools": {"command": "/opt/bin/convtools", "args": ["mcp", "--workspace", "${workspaceFolder}"]}`) {
			t.Errorf("the diff does not show the change:\n%s", diff)
		}
		for line := range strings.Lines(diff) {
			if len(line) > 400 {
				t.Errorf("a line of %d bytes", len(line))
			}
		}
	}
}

// TestDiffHidesTheRestOfALine has everything on one line that is not very long.
func TestDiffHidesTheRestOfALine(t *testing.T) {
	t.Parallel()
	const secret = "sk-0123456789"
	d := newDesk(t)
	d.write("home/.cursor/mcp.json", `{"mcpServers":{"other":{"env":{"TOKEN":"`+secret+`","A":"abcdef"},"command":"npx"}},"theme":"x"}`)
	if diff := d.install("cursor").Diff(); strings.Contains(diff, secret) || !strings.Contains(diff, `"convtools":{"command":"/opt/bin/convtools"`) {
		t.Errorf("diff:\n%s", diff)
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

// FuzzDiff shows changes of anybody's making. Files with short lines are shown in
// full; what is shown of others are lines of a diff, and text where it was text.
func FuzzDiff(f *testing.F) {
	long := strings.Repeat("é, ", 200)
	f.Add([]byte(long+"a"+long), []byte(long+"bc"+long+"\n"))
	f.Add([]byte("a\n"+long+"\nb"), []byte("a\n"+long+"\n"))
	f.Add([]byte("--- a\n+++ b\n"), []byte(""))
	f.Add([]byte(long), []byte{})
	f.Fuzz(func(t *testing.T, before, after []byte) {
		change := install.Change{Files: []install.FileChange{{Path: "f", Target: "f", Before: before, After: after}}}
		text := change.Diff()
		if utf8.Valid(before) && utf8.Valid(after) && !utf8.ValidString(text) {
			t.Errorf("not text: %q", text)
		}
		for line := range strings.Lines(text) {
			if !strings.ContainsRune("-+ @\\", rune(line[0])) {
				t.Errorf("no line of a diff: %q", line)
			}
		}
		full := string(diff.Diff("f", unix(before), "f", unix(after)))
		_, full, _ = strings.Cut(full, "\n")
		if slices.Max(append(lengths(full), 0)) <= 80 && text != full {
			t.Errorf("shows %q of %q", text, full)
		}
		if shown := slices.Max(append(lengths(text), 0)); len(before) > 0 && len(after) == 0 && shown > 201 {
			t.Errorf("a line of %d bytes is removed and shown in full", shown)
		}
	})
}

func unix(data []byte) []byte { return bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")) }

func lengths(text string) []int {
	var list []int
	for line := range strings.Lines(text) {
		list = append(list, len(line))
	}
	return list
}
