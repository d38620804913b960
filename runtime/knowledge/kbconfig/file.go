package kbconfig

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/base/tomlpos"
	"github.com/convtools/convtools/runtime/trust"
)

// Bounds on one file, which is written by hand. For each key the decoder takes
// time in the square of its depth, and for finding columns in the square of a line.
const (
	maxFile  = 1 << 20  // bytes
	maxLine  = 32 << 10 // bytes
	maxDepth = 16       // tables around a value
)

// owner is whose a configuration file is.
type owner int

const (
	projects owner = iota
	users
	jps // JP's own
)

// file is a configuration file that could be decoded.
type file struct {
	name  string // for positions
	owner owner
	table map[string]any
	keys  []toml.Key // in the order of the file
	index *tomlpos.Index
}

func keyPath(names []string) tomlpos.Path {
	p := make(tomlpos.Path, len(names))
	for i, name := range names {
		p[i] = tomlpos.Key(name)
	}
	return p
}

// at returns where a key stands, or else the nearest table around it.
func (f *file) at(names ...string) Position {
	for p := keyPath(names); len(p) > 0; p = p[:len(p)-1] {
		if span, ok := f.index.Key(p); ok {
			return Position{f.name, span}
		}
	}
	return Position{File: f.name}
}

// elem returns where an element of an array stands, or else the array's key.
func (f *file) elem(i int, names ...string) Position {
	if span, ok := f.index.Value(keyPath(names).Elem(i)); ok && i >= 0 {
		return Position{f.name, span}
	}
	return f.at(names...)
}

var (
	errLink     = errors.New("it is a link that cannot be followed inside its directory")
	errDangling = errors.New("it is a link to a file that does not exist")
)

// readFile reads a file of the workspace. It may be no link out of its directory,
// and that no link out of the workspace: who made the workspace does not choose
// what is read. The error is fs.ErrNotExist when there is no such file.
func readFile(root, name string, getenv func(string) string) ([]byte, error) {
	dir, err := trust.OpenDir(root, path.Dir(name), getenv)
	if err != nil {
		if _, missing := os.Stat(filepath.Join(root, filepath.FromSlash(name))); missing != nil {
			return nil, fs.ErrNotExist
		}
		return nil, err
	}
	defer dir.Close()
	info, err := dir.Lstat(path.Base(name))
	if err != nil {
		return nil, err
	}
	src, err := safefile.ReadIn(dir, path.Base(name), maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errDangling
	case err != nil && info.Mode()&fs.ModeSymlink != 0 && !errors.Is(err, safefile.ErrNotRegular):
		return nil, errLink
	}
	return src, err
}

// readUserFile reads the user's file, which the user may have linked to anywhere.
func readUserFile(path string) ([]byte, error) {
	if _, err := os.Lstat(path); err != nil {
		return nil, err
	}
	src, err := safefile.Read(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errDangling
	}
	return src, err
}

// file reads one file of the configuration. It returns nil when the file does not
// exist and when it cannot be used, which is reported.
func (l *loader) file(name string, owner owner, read func() ([]byte, error)) *file {
	src, err := read()
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	l.files = append(l.files, name)
	if err != nil {
		l.unreadable(name, owner, err)
		return nil
	}
	// Most of JP's configurations have no topics, and are JP's to judge.
	if owner == jps && !bytes.Contains(src, []byte("kb")) {
		return nil
	}
	f := &file{name: name, owner: owner}
	if !l.decode(f, src) {
		l.incomplete = l.incomplete || owner != jps || namesTopics(string(src))
		return nil
	}
	return f
}

func (l *loader) unreadable(name string, owner owner, err error) {
	var pathError *fs.PathError
	var outside *trust.OutsideError
	hint := ""
	switch {
	case errors.As(err, &pathError):
		err = pathError.Err
	case errors.As(err, &outside):
		hint = outside.Hint()
		err = fmt.Errorf("%s is a link out of the project", outside.Path) // Models are not told where to.
	}
	message := "the file cannot be read: " + text.Cell(err.Error())
	if owner == jps {
		// The file is JP's, and has no topics as long as JP is content with it.
		l.warning(Position{File: name}, RuleFile, "topics in it are not seen: "+moveTopics, "%s", message)
		return
	}
	l.incomplete = true
	l.error(Position{File: name}, RuleFile, hint, "%s", message)
}

// moveTopics is where topics in JP's own configuration belong.
const moveTopics = "move them to " + jpTopicsFile

// namesTopics reports whether a line of a text that cannot be decoded begins with the
// key kb or the header of its table.
func namesTopics(src string) bool {
	for line := range strings.Lines(src) {
		key, ok := strings.CutPrefix(strings.TrimLeft(line, " \t[\"'\ufeff"), "kb")
		if ok && (key == "" || strings.ContainsAny(key[:1], ".=]\"' \t\r\n")) {
			return true
		}
	}
	return false
}

func (l *loader) decode(f *file, source []byte) bool {
	src := strings.TrimPrefix(string(source), "\ufeff")
	refuse := func(at diag.Span, hint, message string) bool {
		report := l.error
		if f.owner == jps && !namesTopics(src) {
			report = l.warning
		}
		report(Position{f.name, at}, RuleSyntax, hint, "%s", message)
		return false
	}
	place := func(offset int) diag.Span { return diag.NewSource([]byte(src)).Span(offset, offset) }
	if at := text.Invalid(src); at >= 0 {
		return refuse(place(at), "save the file as UTF-8", "this is not valid UTF-8")
	}
	offset := 0
	for line := range strings.Lines(src) {
		if len(line) > maxLine {
			return refuse(place(offset), "", fmt.Sprintf("the line has more than %d bytes", maxLine))
		}
		offset += len(line)
	}
	f.index = tomlpos.ScanNames([]byte(src), maxDepth)
	if at, deep := f.index.Deep(); deep {
		return refuse(at, "", fmt.Sprintf("this is nested too deeply: there may be %d tables around a value", maxDepth))
	}
	meta, err := toml.Decode(src, &f.table)
	if err != nil {
		var parse toml.ParseError
		if !errors.As(err, &parse) {
			return refuse(place(0), "", text.Quote(err.Error()))
		}
		at := parse.Position.Start
		for at > 0 && at < len(src) && !utf8.RuneStart(src[at]) {
			at-- // The decoder may mean the middle of a character.
		}
		return refuse(place(at), "", text.Cut(text.Cell(strings.TrimSuffix(parse.Message, ".")), 300))
	}
	f.keys = meta.Keys()
	return true
}
