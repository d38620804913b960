package kbconfig

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"github.com/convtools/convtools/runtime/envelope"
)

// Bounds on one file, which is written by hand. For each key the decoder takes
// time in the square of its depth, and for finding columns in the square of a line.
const (
	maxFile    = 1 << 20  // bytes
	maxLine    = 32 << 10 // bytes
	maxNesting = 100      // brackets that are open at once
	maxDepth   = 16       // tables around a value
)

// file is a configuration file that could be decoded.
type file struct {
	name  string // for positions
	jp    bool   // it is JP's own
	table map[string]any
	keys  []toml.Key // in the order of the file
	index *index
}

// at returns where a key stands, or else the nearest table around it.
func (f *file) at(path ...string) Position {
	line, column := f.index.key(path)
	return Position{f.name, line, column}
}

// elem returns where an element of an array stands, or else the array's key.
func (f *file) elem(i int, path ...string) Position {
	line, column := f.index.elem(i, path)
	return Position{f.name, line, column}
}

var (
	errNotRegular = errors.New("it is not a regular file")
	errLink       = errors.New("it is a link that cannot be followed inside its directory")
	errDangling   = errors.New("it is a link to a file that does not exist")
)

// readFile reads a file of a directory. It may be no link out of there: a
// workspace that somebody else made does not choose what is read. The directory
// itself may be a link. The error is fs.ErrNotExist when there is no such file.
func readFile(dir, name string) ([]byte, error) {
	// Opening a FIFO as a root would wait for its other end.
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, cmp.Or(err, fs.ErrNotExist)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	link := info.Mode()&fs.ModeSymlink != 0
	info, err = root.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errDangling
	case err != nil && link:
		return nil, errLink
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errNotRegular
	}
	f, err := root.OpenFile(name, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readRegular(f)
}

// readUserFile reads the user's file, which the user may have linked to anywhere.
func readUserFile(path string) ([]byte, error) {
	if _, err := os.Lstat(path); err != nil {
		return nil, err
	}
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errDangling
	}
	if err != nil {
		return nil, err
	}
	return readFile(filepath.Dir(target), filepath.Base(target))
}

// readRegular reads an open file. It looks again at what it is, as a FIFO may
// have taken its place, and does not rely on a size that may grow.
func readRegular(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errNotRegular
	}
	src, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(src) > maxFile {
		err = fmt.Errorf("it has more than %d bytes", maxFile)
	}
	return src, err
}

// file reads one file of the configuration. It returns nil when the file does not
// exist and when it cannot be used, which is reported.
func (l *loader) file(name string, jp bool, read func() ([]byte, error)) *file {
	src, err := read()
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	l.files = append(l.files, name)
	if err != nil {
		var pathError *fs.PathError
		if errors.As(err, &pathError) {
			err = pathError.Err
		}
		message := "the file cannot be read: " + envelope.SanitizeLine(err.Error())
		if jp {
			// The file is JP's, and has no topics as long as JP is content with it.
			l.warning(Position{File: name}, RuleFile, "topics in it are not seen: "+moveTopics, "%s", message)
			return nil
		}
		l.incomplete = true
		l.error(Position{File: name}, RuleFile, "", "%s", message)
		return nil
	}
	// Most of JP's configurations have no topics, and need not be decoded.
	if jp && !bytes.Contains(src, []byte("kb")) {
		return nil
	}
	f := &file{name: name, jp: jp}
	if !l.decode(f, src) {
		l.incomplete = l.incomplete || !jp || namesTopics(string(src))
		return nil
	}
	return f
}

// moveTopics is where topics in JP's own configuration belong.
const moveTopics = "move them to " + jpTopicsFile

// namesTopics says whether a line of a text that is no TOML begins with the key
// kb or the header of its table.
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
	f.index = newIndex(src)
	refuse := func(offset int, hint, message string) bool {
		line, column := f.index.position(offset)
		at := Position{f.name, line, column}
		if f.jp && !namesTopics(src) {
			l.warning(at, RuleSyntax, hint, "%s", message)
		} else {
			l.error(at, RuleSyntax, hint, "%s", message)
		}
		return false
	}
	if at := invalidUTF8(src); at >= 0 {
		return refuse(at, "save the file as UTF-8", "this is not valid UTF-8")
	}
	if at, what := unreasonable(src); what != "" {
		return refuse(at, "", what)
	}
	if at, deep := f.index.scan(); deep {
		return refuse(at, "", fmt.Sprintf("tables are nested more than %d levels deep here", maxDepth))
	}
	meta, err := toml.Decode(src, &f.table)
	if err != nil {
		var parse toml.ParseError
		if !errors.As(err, &parse) {
			return refuse(0, "", quote(err.Error()))
		}
		message := envelope.SanitizeLine(strings.TrimSuffix(parse.Message, "."))
		if runes := []rune(message); len(runes) > 300 {
			message = string(runes[:299]) + "…"
		}
		return refuse(parse.Position.Start, "", message)
	}
	f.keys = meta.Keys()
	return true
}

// invalidUTF8 returns the offset of the first byte that is not UTF-8, or -1.
func invalidUTF8(src string) int {
	if utf8.ValidString(src) {
		return -1
	}
	for i, r := range src {
		if r == utf8.RuneError && !strings.HasPrefix(src[i:], "\ufffd") {
			return i
		}
	}
	return -1
}

// unreasonable finds text that would keep the decoder busy, and says what it is.
// It counts brackets within strings too, which no hand-written text has so many of.
func unreasonable(src string) (at int, what string) {
	open, line := 0, 0
	for i := range len(src) {
		switch src[i] {
		case '[', '{':
			open++
		case ']', '}':
			open = max(open-1, 0)
		case '\n':
			line = i + 1
		}
		if i-line > maxLine {
			return line, fmt.Sprintf("the line has more than %d bytes", maxLine)
		}
		if open > maxNesting {
			return i, fmt.Sprintf("more than %d brackets are open here", maxNesting)
		}
	}
	return 0, ""
}
