package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/convtools/convtools/cmd/convtools/internal/repository"
	"github.com/convtools/convtools/runtime/process"
)

//go:embed convtools.js
var launcher []byte

// platforms are the platforms of a release, in the words of Go and of Node.js.
var platforms = []struct{ goos, goarch, os, cpu, file string }{
	{"darwin", "amd64", "darwin", "x64", "convtools"},
	{"darwin", "arm64", "darwin", "arm64", "convtools"},
	{"linux", "amd64", "linux", "x64", "convtools"},
	{"linux", "arm64", "linux", "arm64", "convtools"},
	{"windows", "amd64", "win32", "x64", "convtools.exe"},
	{"windows", "arm64", "win32", "arm64", "convtools.exe"},
}

// npmPackage is a package of npm. For each platform there is one with the program. The package convtools depends on
// all of these, and npm installs the one for its platform.
type npmPackage struct {
	Name                 string            `json:"name"`
	Version              string            `json:"version"`
	Description          string            `json:"description"`
	Homepage             string            `json:"homepage"`
	Repository           map[string]string `json:"repository"`
	License              string            `json:"license"`
	OS                   []string          `json:"os,omitempty"`
	CPU                  []string          `json:"cpu,omitempty"`
	Bin                  map[string]string `json:"bin,omitempty"`
	Engines              map[string]string `json:"engines,omitempty"`
	OptionalDependencies map[string]string `json:"optionalDependencies,omitempty"`

	content map[string][]byte // files beside package.json, by name
}

// file returns the name of the file that npm packs the package into.
func (p npmPackage) file() string {
	return strings.ReplaceAll(strings.TrimPrefix(p.Name, "@"), "/", "-") + "-" + p.Version + ".tgz"
}

// packages returns the packages of the release. The last one depends on the others.
func (r *release) packages() ([]npmPackage, error) {
	about, _ := r.manifest["description"].(string)
	main := r.newPackage("convtools", about)
	main.Bin, main.Engines = map[string]string{"convtools": "bin/convtools.js"}, map[string]string{"node": ">=18"}
	main.OptionalDependencies = map[string]string{}
	main.content["bin/convtools.js"] = launcher
	var all []npmPackage
	for _, platform := range platforms {
		program, err := r.program(platform.goos, platform.goarch)
		if err != nil {
			return nil, err
		}
		p := r.newPackage("@convtools/"+platform.os+"-"+platform.cpu, "The program of the package convtools for this platform")
		p.OS, p.CPU = []string{platform.os}, []string{platform.cpu}
		p.content["bin/"+platform.file] = program
		main.OptionalDependencies[p.Name] = p.Version
		all = append(all, p)
	}
	return append(all, main), nil
}

// newPackage returns a package with the fields and files that all packages have.
func (r *release) newPackage(name, description string) npmPackage {
	return npmPackage{
		Name: name, Version: r.version, Description: description, License: "Apache-2.0",
		Homepage:   "https://github.com/convtools/convtools",
		Repository: map[string]string{"type": "git", "url": "git+https://github.com/convtools/convtools.git"},
		content:    maps.Clone(r.texts),
	}
}

// writePackages has npm pack the packages into dist, and returns the paths of the files.
func (r *release) writePackages(ctx context.Context) (files []string, err error) {
	packages, err := r.packages()
	if err != nil {
		return nil, err
	}
	args := []string{"pack", "--ignore-scripts", "--silent", "--pack-destination", r.dist}
	for _, p := range packages {
		dir := filepath.Join(r.dist, "npm", filepath.FromSlash(p.Name))
		if err := p.write(dir); err != nil {
			return nil, err
		}
		args = append(args, dir)
		files = append(files, filepath.Join(r.dist, p.file()))
	}
	_, err = repository.Output(ctx, process.Command{
		Path: "npm", Args: args, Env: os.Environ(), Limits: process.Limits{Timeout: 5 * time.Minute},
	})
	return files, err
}

// write writes package.json and the files of the package into a directory.
func (p npmPackage) write(dir string) error {
	var manifest bytes.Buffer
	lines := json.NewEncoder(&manifest)
	lines.SetEscapeHTML(false)
	lines.SetIndent("", "  ")
	if err := lines.Encode(p); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, "bin"), 0o755); err != nil {
		return err
	}
	err := writeFile(filepath.Join(dir, "package.json"), 0o644, manifest.Bytes())
	for name, data := range p.content {
		mode := fs.FileMode(0o644)
		if strings.HasPrefix(name, "bin/") {
			mode = 0o755
		}
		err = errors.Join(err, writeFile(filepath.Join(dir, filepath.FromSlash(name)), mode, data))
	}
	return err
}

// writeFile writes a file with a mode, whatever the umask is: npm packs the mode too.
func writeFile(file string, mode fs.FileMode, data []byte) error {
	return errors.Join(os.WriteFile(file, data, mode), os.Chmod(file, mode))
}
