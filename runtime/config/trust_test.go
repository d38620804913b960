package config_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/config"
)

// lab is a project and a home directory beside it.
type lab struct {
	t                   *testing.T
	base, project, home string
}

func newLab(t *testing.T) lab {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l := lab{t, base, filepath.Join(base, "project"), filepath.Join(base, "home")}
	l.mkdir("project")
	l.mkdir("home")
	return l
}

func (l lab) mkdir(path string) {
	l.t.Helper()
	if err := os.MkdirAll(filepath.Join(l.base, path), 0o755); err != nil {
		l.t.Fatal(err)
	}
}

func (l lab) write(path, text string) {
	l.t.Helper()
	l.mkdir(filepath.Dir(path))
	if err := os.WriteFile(filepath.Join(l.base, path), []byte(text), 0o644); err != nil {
		l.t.Fatal(err)
	}
}

func (l lab) link(target, path string) {
	l.t.Helper()
	l.mkdir(filepath.Dir(path))
	if err := os.Symlink(target, filepath.Join(l.base, path)); err != nil {
		l.t.Skip(err)
	}
}

func (l lab) getenv(name string) string {
	switch name {
	case "HOME", "USERPROFILE":
		return l.home
	case "AppData":
		return filepath.Join(l.home, ".config")
	}
	return ""
}

// setting writes the user's configuration.
func (l lab) setting(toml string) { l.write("home/.config/convtools/convtools.toml", toml) }

func TestOpenDir(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		make    func(l lab)
		outside string // where the path leads, relative to the lab; empty where it is opened
	}{
		{"a directory", func(l lab) { l.write("project/docs/kb/a", "") }, ""},
		{"a link inside", func(l lab) { l.write("project/real/a", ""); l.link("../real", "project/docs/kb") }, ""},
		{"an absolute link inside", func(l lab) { l.write("project/real/a", ""); l.link(l.project+"/real", "project/docs/kb") }, ""},
		{"a link to the project", func(l lab) { l.write("project/a", ""); l.link("..", "project/docs/kb") }, ""},
		{"a link out", func(l lab) { l.write("home/.ssh/a", ""); l.link("../../home/.ssh", "project/docs/kb") }, "home/.ssh"},
		{"an absolute link out", func(l lab) { l.write("home/.ssh/a", ""); l.link(l.home+"/.ssh", "project/docs/kb") }, "home/.ssh"},
		{"a parent that leads out", func(l lab) { l.write("home/kb/a", ""); l.link("../home", "project/docs") }, "home/kb"},
		{"a link to a link out", func(l lab) {
			l.write("home/a", "")
			l.link("../inner", "project/docs/kb")
			l.link("../home", "project/inner")
		}, "home"},
		{"a neighbour whose name begins the same", func(l lab) { l.write("project-2/a", ""); l.link("../../project-2", "project/docs/kb") }, "project-2"},
		{"a trusted directory", func(l lab) {
			l.write("shared/a", "")
			l.link("../../shared", "project/docs/kb")
			l.setting("[trust]\ndirectories = [\"" + filepath.ToSlash(l.base) + "/shared\"]")
		}, ""},
		{"a directory in a trusted one, by ~", func(l lab) {
			l.write("home/notes/x/a", "")
			l.link("../../home/notes/x", "project/docs/kb")
			l.setting("[trust]\ndirectories = [\"~/missing\", \"~/notes/\"]")
		}, ""},
		{"a trusted directory that is a link", func(l lab) {
			l.write("disk/a", "")
			l.link("../disk", "home/notes")
			l.link("../../disk", "project/docs/kb")
			l.setting("[trust]\ndirectories = [\"~/notes\"]")
		}, ""},
		{"a neighbour of a trusted directory", func(l lab) {
			l.write("shared-2/a", "")
			l.link("../../shared-2", "project/docs/kb")
			l.setting("[trust]\ndirectories = [\"" + filepath.ToSlash(l.base) + "/shared\"]")
		}, "shared-2"},
		{"a setting of the project's own", func(l lab) {
			l.write("shared/a", "")
			l.link("../../shared", "project/docs/kb")
			l.write("project/convtools.toml", "[trust]\ndirectories = [\"/\"]")
		}, "shared"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			tt.make(l)
			root, err := config.OpenDir(l.project, "docs/kb", l.getenv)
			if tt.outside == "" {
				if err != nil {
					t.Fatal(err)
				}
				defer root.Close()
				if _, err := root.Stat("a"); err != nil {
					t.Error(err)
				}
				return
			}
			var outside *config.OutsideError
			if !errors.As(err, &outside) {
				t.Fatalf("OpenDir: %v, want an OutsideError", err)
			}
			want := config.OutsideError{Path: "docs/kb", UserFile: "~/.config/convtools/convtools.toml"}
			if strings.Contains(err.Error(), l.base) {
				t.Errorf("%v", err)
			}
			if diff := cmp.Diff(want, *outside); diff != "" {
				t.Errorf("OutsideError (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOpenDirErrors(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.write("project/file", "")
	l.link("nothing", "project/dangling")
	for _, path := range []string{"missing", "dangling"} {
		if _, err := config.OpenDir(l.project, path, l.getenv); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v, want %v", path, err, fs.ErrNotExist)
		}
	}
	if _, err := config.OpenDir(l.project, "file", l.getenv); err == nil {
		t.Error("a file was opened as a directory")
	}
}

func TestDirectories(t *testing.T) {
	t.Parallel()
	absolute := "/srv/shared"
	if runtime.GOOS == "windows" {
		absolute = "C:/srv/shared"
	}
	tests := []struct {
		name, file string
		want       []string // with / for the home directory's separator
		problem    string
	}{
		{"no table", "[kb.topic.a]\nsubjects = \"a\"", nil, ""},
		{"no key", "[trust]", nil, ""},
		{"paths", "[trust]\ndirectories = [\"" + absolute + "/\", \"~/notes\", \"~\"]", []string{absolute, "HOME/notes", "HOME"}, ""},
		{"a relative path", "[trust]\ndirectories = [\"notes\"]", nil, `"notes" in directories of [trust] is not an absolute path`},
		{"another's home", "[trust]\ndirectories = [\"~root\"]", nil, `"~root" in directories of [trust] is not an absolute path`},
		{"an empty path", "[trust]\ndirectories = [\"\"]", nil, `"" in directories of [trust] is not an absolute path`},
		{"not an array", "[trust]\ndirectories = \"/srv\"", nil, `"directories" in [trust] has to be an array of strings`},
		{"not a string", "[trust]\ndirectories = [1]", nil, `"directories" in [trust] has to be an array of strings`},
		{"a string and another value", "[trust]\ndirectories = ['/a', 3]", nil, `"directories" in [trust] has to be an array of strings`},
		{"an unknown key", "[trust]\ndirectory = [\"/srv\"]", nil, `unknown key "directory" in [trust]`},
		{"not a table", "trust = true", nil, `"trust" has to be a table`},
		{"not TOML", "[trust", nil, "expected"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.setting(tt.file)
			c := config.Read(l.project, l.getenv)
			got, err := c.Trust.Directories, c.Wrong("trust")
			if tt.problem == "" {
				if err != nil {
					t.Fatal(err)
				}
				var want []string
				for _, dir := range tt.want {
					if below, ok := cutHome(dir); ok {
						dir = filepath.Join(l.home, below)
					}
					want = append(want, filepath.FromSlash(dir))
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("Directories (-want +got):\n%s", diff)
				}
				return
			}
			if err == nil || got != nil && strings.Contains(tt.problem, "array of") || !strings.Contains(err.Error(), tt.problem) || !strings.Contains(err.Error(), "~/.config/convtools/convtools.toml") && runtime.GOOS != "windows" {
				t.Errorf("Directories = %v, %v; want an error about the file: %s", got, err, tt.problem)
			}
		})
	}
}

func cutHome(dir string) (below string, ok bool) {
	if len(dir) >= 4 && dir[:4] == "HOME" {
		return dir[4:], true
	}
	return dir, false
}

func TestDirectoriesWithoutFile(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for _, getenv := range []func(string) string{nil, l.getenv, func(string) string { return "" }} {
		if c := config.Read(l.project, getenv); c.Trust.Directories != nil || c.Problems != nil {
			t.Errorf("%v, %v; want nothing", c.Trust.Directories, c.Problems)
		}
	}
}

func TestStateDir(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	want := map[string]map[string]string{ // by system and variable
		"windows": {"LocalAppData": base},
		"darwin":  {"HOME": filepath.Join(base, "Library", "Application Support")},
	}[runtime.GOOS]
	if want == nil {
		want = map[string]string{"HOME": filepath.Join(base, ".local", "state"), "XDG_STATE_HOME": base}
	}
	for variable, dir := range want {
		got := config.StateDir(func(name string) string {
			if name == variable {
				return base
			}
			return ""
		})
		if got != filepath.Join(dir, "convtools") {
			t.Errorf("%s: %q", variable, got)
		}
	}
	for _, value := range []string{"", "relative"} {
		if got := config.StateDir(func(name string) string { return value }); got != "" {
			t.Errorf("%q: %q", value, got)
		}
	}
}
