package main

import (
	"archive/zip"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// repositoryWith returns a repository whose plugin has version 0.2.0, with a release in dist whose programs hold the
// name of their platform.
func repositoryWith(t *testing.T, version string) string {
	t.Helper()
	root := t.TempDir()
	files := map[string]string{
		"README.md": "# convtools\n", "LICENSE": "Free.\n", "bin/release/THIRD_PARTY_LICENSES": "Free too.\n",
		"generated/plugin/manifest.json":               `{"version": "0.2.0", "description": "Recalls", "server": {"entry_point": "convtools"}}`,
		"dist/metadata.json":                           `{"version": "` + version + `", "tag": "v0.1.9"}`,
		"dist/convtools_" + version + "_checksums.txt": "0  an-archive\n",
	}
	artifacts := []map[string]string{{"type": "Archive", "path": "dist/convtools_linux_amd64.tar.gz", "goos": "linux", "goarch": "amd64"}}
	for _, platform := range []string{
		"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "darwin/all", "windows/amd64", "windows/arm64",
	} {
		goos, goarch, _ := strings.Cut(platform, "/")
		path := "dist/" + goos + "_" + goarch + "/convtools"
		files[path] = platform
		artifacts = append(artifacts, map[string]string{"type": "Binary", "path": path, "goos": goos, "goarch": goarch})
	}
	list, err := json.Marshal(artifacts)
	if err != nil {
		t.Fatal(err)
	}
	files["dist/artifacts.json"] = string(list)
	for name, content := range files {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestReadVersion(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{
		"0.2.0":                   "",
		"0.2.1-SNAPSHOT-0123abcd": "",
		"0.3.0":                   "the tag has version 0.3.0, tools.toml 0.2.0",
	} {
		got := ""
		if _, err := readRelease(repositoryWith(t, version)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: error is %q, want %q", version, got, want)
		}
	}
}

func TestPackages(t *testing.T) {
	t.Parallel()
	r, err := readRelease(repositoryWith(t, "0.2.0"))
	if err != nil {
		t.Fatal(err)
	}
	packages, err := r.packages()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, p := range packages {
		dir := t.TempDir()
		if err := p.write(dir); err != nil {
			t.Fatal(err)
		}
		programs, err := filepath.Glob(filepath.Join(dir, "bin", "*"))
		if err != nil || len(programs) != 1 {
			t.Fatalf("programs of %s are %v, %v", p.Name, programs, err)
		}
		content, err := os.ReadFile(programs[0])
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(string(content), "\n")
		got[p.file()] = strings.Join(append(p.OS, p.CPU...), " ") + ": " + filepath.Base(programs[0]) + ": " + first
	}
	want := map[string]string{
		"convtools-0.2.0.tgz":              ": convtools.js: #!/usr/bin/env node",
		"convtools-darwin-arm64-0.2.0.tgz": "darwin arm64: convtools: darwin/arm64",
		"convtools-darwin-x64-0.2.0.tgz":   "darwin x64: convtools: darwin/amd64",
		"convtools-linux-arm64-0.2.0.tgz":  "linux arm64: convtools: linux/arm64",
		"convtools-linux-x64-0.2.0.tgz":    "linux x64: convtools: linux/amd64",
		"convtools-win32-arm64-0.2.0.tgz":  "win32 arm64: convtools.exe: windows/arm64",
		"convtools-win32-x64-0.2.0.tgz":    "win32 x64: convtools.exe: windows/amd64",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("packages (-want +got):\n%s", diff)
	}
}

func TestWriteBundle(t *testing.T) {
	t.Parallel()
	r, err := readRelease(repositoryWith(t, "0.2.1-SNAPSHOT-0123abcd"))
	if err != nil {
		t.Fatal(err)
	}
	file, err := r.writeBundle()
	if err != nil {
		t.Fatal(err)
	}
	archive, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	type entry struct {
		Mode    fs.FileMode
		Content string
	}
	got := map[string]entry{}
	for _, f := range archive.File {
		opened, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(opened)
		if err != nil {
			t.Fatal(err)
		}
		got[f.Name] = entry{f.Mode(), string(content)}
	}
	want := map[string]entry{
		"LICENSE":              {0o644, "Free.\n"},
		"README.md":            {0o644, "# convtools\n"},
		"THIRD_PARTY_LICENSES": {0o644, "Free too.\n"},
		"convtools":            {0o755, "darwin/all"},
		"convtools.exe":        {0o755, "windows/amd64"},
		"manifest.json": {0o644, `{
  "compatibility": {
    "platforms": [
      "darwin",
      "win32"
    ]
  },
  "description": "Recalls",
  "server": {
    "entry_point": "convtools"
  },
  "version": "0.2.1-SNAPSHOT-0123abcd"
}`},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", filepath.Base(file), diff)
	}
}

func TestAddChecksums(t *testing.T) {
	t.Parallel()
	r, err := readRelease(repositoryWith(t, "0.2.0"))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.addChecksums([]string{filepath.Join(r.root, "LICENSE")}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(r.dist, "convtools_0.2.0_checksums.txt"))
	// From sha256sum.
	const want = "0  an-archive\n" + "64580bb4a8f33d051935bf9ed359ee986ef923a2645f9145089ab1f2db385885  LICENSE\n"
	if err != nil || string(got) != want {
		t.Errorf("the list is\n%s%v\nwant\n%s", got, err, want)
	}
}
