package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// bundled are the programs in a bundle. Claude Desktop is there for macOS and Windows, and a bundle does not say for
// which processor it is: that of macOS runs on both, and Windows on ARM runs programs for AMD64.
var bundled = []struct{ name, goos, goarch string }{
	{"convtools", "darwin", "all"},
	{"convtools.exe", "windows", "amd64"},
}

// writeBundle writes the bundle for Claude Desktop into dist and returns its path. A bundle is a zip archive with a
// manifest and the programs that the manifest names.
func (r *release) writeBundle() (string, error) {
	manifest := maps.Clone(r.manifest)
	manifest["version"] = r.version
	manifest["compatibility"] = map[string]any{"platforms": []string{"darwin", "win32"}}
	text, err := json.MarshalIndent(manifest, "", "  ")
	if err != nil {
		return "", err
	}
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	err = addToArchive(z, "manifest.json", 0o644, text)
	for _, name := range slices.Sorted(maps.Keys(r.texts)) {
		err = errors.Join(err, addToArchive(z, name, 0o644, r.texts[name]))
	}
	for _, p := range bundled {
		program, readErr := r.program(p.goos, p.goarch)
		err = errors.Join(err, readErr, addToArchive(z, p.name, 0o755, program))
	}
	file := filepath.Join(r.dist, fmt.Sprintf("convtools_%s.mcpb", r.version))
	return file, errors.Join(err, z.Close(), os.WriteFile(file, archive.Bytes(), 0o644)) //nolint:gosec // for everybody
}

// addToArchive adds a file to an archive. All files have one time, so that the same files make the same archive.
func addToArchive(z *zip.Writer, name string, mode fs.FileMode, data []byte) error {
	h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: time.Date(1980, time.January, 1, 0, 0, 0, 0, time.UTC)}
	h.SetMode(mode)
	w, err := z.CreateHeader(h)
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}
