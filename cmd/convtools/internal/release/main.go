// Command release adds to the release that goreleaser left in dist what goreleaser does not make: the packages of npm
// and the bundle for Claude Desktop. The tests of this package install what is in dist. Nothing is uploaded.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/convtools/convtools/cmd/convtools/internal/repository"
)

const usage = `usage: release

Makes the packages of npm and the bundle for Claude Desktop from the programs
that goreleaser left in dist, and adds their checksums to those of the release.
make release and make release-snapshot run it. It needs npm.
`

func main() { repository.Main(usage, run) }

// run makes the packages and the bundle, and adds their checksums.
func run(ctx context.Context) error {
	root, err := repository.Root(ctx)
	if err != nil {
		return err
	}
	r, err := readRelease(root)
	if err != nil {
		return fmt.Errorf("reading what goreleaser left in dist: %w", err)
	}
	bundle, err := r.writeBundle()
	if err != nil {
		return fmt.Errorf("making the bundle: %w", err)
	}
	packages, err := r.writePackages(ctx)
	if err != nil {
		return fmt.Errorf("making the packages of npm: %w", err)
	}
	return r.addChecksums(append(packages, bundle))
}

// release is what goreleaser left in dist.
type release struct {
	root, dist string // directories: of the repository, and of the release
	version    string
	artifacts  []artifact
	manifest   map[string]any    // of the bundle for Claude Desktop, as convgen writes it
	texts      map[string][]byte // files that are beside a program in every package
}

// artifact is a file that goreleaser made. Goarch is "all" for the program of macOS that runs on both processors.
type artifact struct {
	Path         string // from the root of the repository
	Type         string
	Goos, Goarch string // empty in a file for all platforms
}

// readRelease returns the release in the directory dist of a repository. It fails for a tag whose version is not that
// of the plugin in tools.toml, because hosts install the plugin from the repository.
func readRelease(root string) (*release, error) {
	r := &release{root: root, dist: filepath.Join(root, "dist"), texts: map[string][]byte{}}
	var metadata struct{ Version string }
	err := errors.Join(
		readJSON(filepath.Join(r.dist, "metadata.json"), &metadata),
		readJSON(filepath.Join(r.dist, "artifacts.json"), &r.artifacts),
		readJSON(filepath.Join(root, "generated", "plugin", "manifest.json"), &r.manifest),
	)
	for _, file := range []string{"README.md", "LICENSE", "bin/release/THIRD_PARTY_LICENSES"} {
		text, readErr := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
		err = errors.Join(err, readErr)
		r.texts[path.Base(file)] = text
	}
	if err != nil {
		return nil, err
	}
	r.version = metadata.Version
	if plugin := r.manifest["version"]; plugin != r.version && !strings.Contains(r.version, "-SNAPSHOT-") {
		return nil, fmt.Errorf("the tag has version %s, tools.toml %s", r.version, plugin)
	}
	return r, nil
}

// readJSON decodes a file of JSON.
func readJSON(file string, into any) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// program returns the program for a platform.
func (r *release) program(goos, goarch string) ([]byte, error) {
	for _, a := range r.artifacts {
		if a.Type == "Binary" && a.Goos == goos && a.Goarch == goarch {
			return os.ReadFile(filepath.Join(r.root, filepath.FromSlash(a.Path)))
		}
	}
	return nil, fmt.Errorf("dist has no program for %s/%s", goos, goarch)
}

// addChecksums adds the SHA-256 of files in dist to the list that goreleaser made.
func (r *release) addChecksums(files []string) error {
	list := filepath.Join(r.dist, fmt.Sprintf("convtools_%s_checksums.txt", r.version))
	text, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		text = fmt.Appendf(text, "%x  %s\n", sha256.Sum256(data), filepath.Base(file))
	}
	return os.WriteFile(list, text, 0o644) //nolint:gosec // for everybody
}
