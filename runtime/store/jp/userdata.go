package jp

import (
	"os"
	"path/filepath"
	"strings"
	"time"
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
	under := func(base string, elem ...string) string {
		if base == "" {
			return ""
		}
		return filepath.Join(append([]string{base}, elem...)...)
	}
	switch goos {
	case "windows":
		if base := getenv("LOCALAPPDATA"); base != "" {
			return under(base, "jp", "data")
		}
		return under(getenv("USERPROFILE"), "AppData", "Local", "jp", "data")
	case "darwin":
		return under(getenv("HOME"), "Library", "Application Support", "jp")
	}
	return under(getenv("HOME"), ".local", "share", "jp")
}

// silos returns the stores in the user data directory that belong to a
// workspace id, in the order of their names.
func silos(userData, id string) []string {
	if userData == "" {
		return nil
	}
	parent := filepath.Join(userData, "workspace")
	entries, err := os.ReadDir(parent)
	if err != nil {
		return nil
	}
	var dirs []string
	for _, entry := range entries {
		if name := entry.Name(); name == id || strings.HasSuffix(name, "-"+id) {
			dir := filepath.Join(parent, name)
			if info, err := os.Stat(dir); err == nil && info.IsDir() {
				dirs = append(dirs, dir)
			}
		}
	}
	return dirs
}

// chooseSilo returns the user store of a workspace, or "" when there is none.
// Checkouts of one project under different names share an id and may have left
// several: the one named after this checkout wins, else the one with the newest
// entry, else the one with the greatest name.
func chooseSilo(userData, project, id string) string {
	best := ""
	var newest time.Time
	for _, dir := range silos(userData, id) {
		if filepath.Base(dir) == project+"-"+id {
			return dir
		}
		if t := newestEntry(dir); best == "" || !t.Before(newest) {
			best, newest = dir, t
		}
	}
	return best
}

// newestEntry returns the newest modification time of what is directly in a
// directory, links followed, or of the directory itself when it is empty.
func newestEntry(dir string) time.Time {
	var newest time.Time
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		if info, err := os.Stat(filepath.Join(dir, entry.Name())); err == nil && info.ModTime().After(newest) {
			newest = info.ModTime()
		}
	}
	if newest.IsZero() {
		if info, err := os.Stat(dir); err == nil {
			newest = info.ModTime()
		}
	}
	return newest
}

// findByID returns the directory to which the first store of a workspace id
// points, or "".
func findByID(userData, id string) string {
	for _, dir := range silos(userData, id) {
		if target, err := os.Readlink(filepath.Join(dir, "storage")); err == nil && filepath.IsAbs(target) {
			return target
		}
	}
	return ""
}
