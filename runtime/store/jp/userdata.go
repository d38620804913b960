package jp

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/project"
)

// userDataDir returns the directory under which JP keeps what belongs to the
// user, or "" when the environment does not tell.
func userDataDir(getenv func(string) string, goos string) string {
	if dir := getenv("JP_USER_DATA_DIR"); dir != "" {
		return dir
	}
	if dir := getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "jp")
	}
	switch goos {
	case "windows":
		return cmp.Or(under(getenv("LOCALAPPDATA"), "jp", "data"), under(getenv("USERPROFILE"), "AppData", "Local", "jp", "data"))
	case "darwin":
		return under(getenv("HOME"), "Library", "Application Support", "jp")
	}
	return under(getenv("HOME"), ".local", "share", "jp")
}

// under returns a path below a directory, or "" for no directory.
func under(base string, elem ...string) string {
	if base == "" {
		return ""
	}
	return filepath.Join(append([]string{base}, elem...)...)
}

// silos returns the stores in the user data directory that belong to a
// workspace id, in the order of their names; all for an empty one.
func silos(userData, id string) (dirs []string) {
	if userData == "" {
		return nil
	}
	parent := filepath.Join(userData, "workspace")
	entries, _ := os.ReadDir(parent) // there need not be any
	for _, entry := range entries {
		dir := filepath.Join(parent, entry.Name())
		if store.IsThere(dir) && (id == "" || strings.HasSuffix("-"+entry.Name(), "-"+id)) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// chooseSilo returns the user store of the workspace in a directory, or "" when there is none,
// and those that have its id and are on record for other directories: an id comes with the
// files of a project, and a clone has that of the original. Checkouts of one project under
// different names may have left several, which JP makes one of when it is run: the one named
// after this checkout wins, else the one with the greatest name.
func chooseSilo(userData, root, id string) (chosen string, others []string) {
	for _, dir := range silos(userData, id) {
		if !slices.ContainsFunc(recordedIn([]string{dir}), func(store string) bool { return isOf(store, root) }) {
			others = append(others, dir)
			continue
		}
		if chosen = dir; filepath.Base(dir) == filepath.Base(root)+"-"+id {
			break
		}
	}
	return chosen, others
}

// isOf reports whether a directory that JP has on record is the store of the workspace in a
// directory, or in another working tree of its repository.
func isOf(store, root string) bool {
	dir := filepath.Dir(store)
	recorded, err := os.Stat(dir)
	if filepath.Base(store) != storageDir || err != nil {
		return false
	}
	info, err := os.Stat(root)
	return err == nil && os.SameFile(recorded, info) || project.New(project.Options{Dir: root}).Has(dir)
}

// recordedIn returns the stores in projects that JP has on record for user stores: the
// ones that their links lead to, or those of the files that newer versions write.
func recordedIn(silos []string) (stores []string) {
	const maxRoots, maxSize = 1000, 64 << 10
	for _, silo := range silos {
		if target, err := os.Readlink(filepath.Join(silo, "storage")); err == nil && filepath.IsAbs(target) {
			stores = append(stores, target)
		}
		entries, _ := os.ReadDir(filepath.Join(silo, "roots")) // there need not be any
		for _, entry := range entries[:min(len(entries), maxRoots)] {
			var root struct {
				Path string `json:"path"`
			}
			data, err := safefile.Read(filepath.Join(silo, "roots", entry.Name()), maxSize)
			if err == nil && json.Unmarshal(data, &root) == nil && filepath.IsAbs(root.Path) {
				stores = append(stores, filepath.Join(root.Path, storageDir))
			}
		}
	}
	return stores
}
