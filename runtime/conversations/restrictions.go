package conversations

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/store/project"
)

// restrictions is what the user wants not to be read.
type restrictions struct {
	set    settings
	memory *project.Memory // nil where the environment does not tell where it is kept
}

func readRestrictions(o *Options) (r restrictions, err error) {
	if r.set, err = readSettings(o); err != nil {
		return r, err
	}
	r.memory, err = openMemory(o.env())
	return r, err
}

func openMemory(getenv func(string) string) (*project.Memory, error) {
	dir := config.StateDir(getenv)
	if dir == "" {
		return nil, nil
	}
	return project.OpenMemory(filepath.Join(dir, "excluded"))
}

// project returns the project that options name, or all.
func (r *restrictions) project(o *Options, all bool) *project.Project {
	return project.New(project.Options{Dir: directory(o), All: all, Exclude: r.set.Exclude, Patterns: r.set.Patterns, Memory: r.memory})
}

// mark returns a text that is another one when something else is excluded; empty where
// nothing is.
func (r *restrictions) mark() string {
	all := slices.Concat(r.set.Exclude, r.set.Patterns)
	for _, e := range r.memory.Exclusions() {
		all = append(all, e.By)
	}
	if len(all) == 0 {
		return ""
	}
	slices.Sort(all)
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", slices.Compact(all)))
	return hex.EncodeToString(sum[:8])
}

// Include takes back that a directory is remembered as excluded, and returns what excludes it
// all the same; empty where nothing does. The error is a [*project.NotRememberedError]
// or a [*project.StillError] where there was nothing to be taken back.
func (o Options) Include() (by string, err error) {
	memory, err := openMemory(o.env())
	if err != nil {
		return "", err
	}
	if memory == nil {
		return "", &project.NotRememberedError{Dir: o.Dir}
	}
	if err := memory.Forget(o.Dir); err != nil {
		return "", err
	}
	r, err := readRestrictions(&o)
	if err != nil {
		return "", err
	}
	return r.project(&o, false).Excluded().By, nil
}
