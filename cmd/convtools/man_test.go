package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// pageIndent is how far man indents the text of a page, in columns.
const pageIndent = 7

// screenWidth is what help and manual pages have to fit, in columns.
const screenWidth = 80

// manualPages writes the manual and returns the names of its pages.
func manualPages(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	helpOf(t, "man", dir)
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil || len(pages) != len(everyCommand(t))-1 { // none for help
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	return pages
}

func TestManualFits80Columns(t *testing.T) {
	t.Parallel()
	for _, page := range manualPages(t) {
		source, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		unfilled := false // between .nf and .fi lines are not filled
		for line := range strings.Lines(string(source)) {
			line = strings.TrimSuffix(line, "\n")
			switch line {
			case ".nf":
				unfilled = true
			case ".fi":
				unfilled = false
			default:
				shown := strings.NewReplacer(`\-`, "-", `\e`, `\`, `\&`, "").Replace(line)
				if n := utf8.RuneCountInString(shown) + pageIndent; unfilled && n > screenWidth {
					t.Errorf("%s: %d columns: %s", filepath.Base(page), n, shown)
				}
			}
		}
		if unfilled {
			t.Errorf("%s: filling is not switched on again", filepath.Base(page))
		}
	}
}

// TestManualRenders has the formatter that man uses show every page.
func TestManualRenders(t *testing.T) {
	t.Parallel()
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("groff is not in PATH")
	}
	pages := manualPages(t)
	var stdout, stderr bytes.Buffer
	render := exec.CommandContext(t.Context(), groff, append([]string{"-man", "-Tutf8", "-Kutf8", "-P-cbou", "-rLL=80n", "-ww"}, pages...)...)
	render.Stdout, render.Stderr = &stdout, &stderr
	if err := render.Run(); err != nil || stderr.Len() > 0 {
		t.Errorf("%v: %s", err, &stderr)
	}
	for line := range strings.Lines(stdout.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > screenWidth {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if n := strings.Count(stdout.String(), "\nEXAMPLES\n"); n != len(pages) {
		t.Errorf("%d of %d pages have examples:\n%s", n, len(pages), &stdout)
	}
}
