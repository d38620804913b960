package exports

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store/jsontext"
)

// UnrecognisedError is the error for what has no conversation of a known export in it.
type UnrecognisedError struct {
	Path   string
	Reason string // what it is instead, where that is known
	Failed int    // conversations, or files of them, that cannot be read
}

func (e *UnrecognisedError) Error() string {
	switch {
	case e.Reason != "":
		return e.Path + ": " + e.Reason
	case e.Failed > 0:
		return e.Path + ": nothing of it can be imported"
	}
	return e.Path + ": there is no conversation of a ChatGPT or Claude.ai export in it, and no agent of a Letta agent file"
}

// InputError is the error for what cannot be read at all.
type InputError struct {
	Path string
	Err  error
}

func (e *InputError) Error() string {
	var named *fs.PathError
	if errors.As(e.Err, &named) {
		return e.Err.Error()
	}
	return e.Path + ": " + e.Err.Error()
}

func (e *InputError) Unwrap() error { return e.Err }

// file is a file of an export that may have conversations.
type file struct {
	name     string // its path in the export, with slashes
	size     int64
	expected bool // that it has none is a failure
	open     func() (io.ReadCloser, error)
}

// export is an opened export.
type export struct {
	all    []file
	closer io.Closer
	grown  int64 // bytes that were unpacked, and may be
	most   int64
	nested int // zips in it
}

const (
	maxFiles = 200_000 // of a folder or a zip
	maxDepth = 16      // of folders
	maxRatio = 200     // of what is unpacked to what was packed
	minRoom  = 64 << 20
	maxIndex = 16 << 20 // of a manifest
)

// open opens an export, and finds out what it is.
func open(name string) (e *export, err error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	e = &export{}
	if info.IsDir() {
		var root *os.Root
		if root, err = safefile.OpenDir(name); err != nil {
			return nil, err
		}
		e.closer = root
		err = e.folder(root)
	} else {
		var f *os.File
		if f, info, err = safefile.Open(name); err != nil {
			return nil, err
		}
		e.closer = f
		err = e.file(name, f, info.Size())
	}
	if err == nil && len(e.all) > maxFiles {
		err = fmt.Errorf("it has more than %d files", maxFiles)
	}
	if err != nil {
		e.closer.Close()
		return nil, err
	}
	return e, nil
}

// folder finds the files of a folder. Links are not followed.
func (e *export) folder(root *os.Root) error {
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && name == ".":
			return err
		case err != nil:
			return nil // of a folder: its files are not there
		case len(e.all) > maxFiles:
			return fs.SkipAll
		case d.IsDir() && strings.Count(name, "/") >= maxDepth:
			return fs.SkipDir
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() { // else it is gone, or a link
			e.all = append(e.all, file{name: name, size: info.Size(), open: func() (io.ReadCloser, error) {
				f, _, err := safefile.OpenIn(root, name)
				return f, err
			}})
		}
		return nil
	})
}

// file finds the files of a zip, or has a file be the only one.
func (e *export) file(name string, f *os.File, size int64) error {
	var head [16]byte
	n, err := f.ReadAt(head[:], 0)
	switch begin := string(head[:n]); {
	case err != nil && err != io.EOF:
		return err
	case begin == "SQLite format 3\x00":
		return &UnrecognisedError{Path: name, Reason: "it is a database; one of a ChatGPT export is read in place: set CONVERSATION_DB to its path"}
	case !strings.HasPrefix(begin, "PK"):
		e.all = []file{{name: filepath.Base(name), size: size, expected: true, open: func() (io.ReadCloser, error) { return io.NopCloser(f), nil }}}
		return nil
	}
	e.most = minRoom + maxRatio*size
	archive, err := zip.NewReader(f, size)
	if err != nil {
		return fmt.Errorf("it is a zip that is damaged or not complete, as after a download that was interrupted: %w", err)
	}
	for _, f := range archive.File {
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		e.all = append(e.all, file{name: f.Name, size: int64(min(f.UncompressedSize64, 1<<62)), open: func() (io.ReadCloser, error) {
			const encrypted = 1
			if f.Flags&encrypted != 0 {
				return nil, errEncrypted
			}
			in, err := f.Open()
			return &unpacking{in, e}, err
		}})
	}
	return nil
}

// unpacking reads what is unpacked as long as there is not too much of it.
type unpacking struct {
	io.ReadCloser
	export *export
}

func (u *unpacking) Read(b []byte) (int, error) {
	n, err := u.ReadCloser.Read(b)
	if u.export.grown += int64(n); u.export.grown > u.export.most {
		return 0, errBomb
	}
	return n, err
}

// files returns the files that may have conversations, in the order of their names, and
// what keeps others from being read.
func (e *export) files() (files []file, problems []Problem) {
	if len(e.all) == 1 && e.all[0].expected {
		return e.all, nil
	}
	var named []string // by manifests
	for _, f := range e.all {
		switch base := strings.ToLower(path.Base(f.name)); {
		case !filepath.IsLocal(f.name):
			if strings.HasSuffix(base, ".json") {
				problems = append(problems, Problem{File: f.name, Err: errOutside})
			}
		case base == "export_manifest.json":
			more, err := readManifest(&f)
			if err != nil {
				problems = append(problems, Problem{File: f.name, Err: err})
			}
			named = append(named, more...)
		case strings.HasSuffix(base, ".json") || strings.HasSuffix(base, ".jsonl") || strings.HasSuffix(base, ".af"):
			f.expected = isConversations(f.name)
			files = append(files, f)
		case strings.HasSuffix(base, ".zip"):
			e.nested++
		}
	}
	for _, name := range named {
		at := slices.IndexFunc(files, func(f file) bool { return f.name == name })
		if at < 0 {
			problems = append(problems, Problem{File: name, Err: errMissing})
			continue
		}
		files[at].expected = true
	}
	slices.SortFunc(files, func(a, b file) int {
		return cmp.Or(cmp.Compare(len(a.name), len(b.name)), strings.Compare(a.name, b.name))
	})
	return files, problems
}

// readManifest returns the paths of the files with conversations that a manifest names.
func readManifest(f *file) ([]string, error) {
	in, err := f.open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var manifest struct {
		LogicalFiles map[string]struct {
			Files []string `json:"files"`
		} `json:"logical_files"`
	}
	data, err := io.ReadAll(io.LimitReader(in, maxIndex)) // to the end, where its checksum is
	if err == nil {
		err = json.NewDecoder(bytes.NewReader(data)).Decode(&manifest)
	}
	if err != nil {
		return nil, errors.New("the manifest is damaged; files are looked for by their names")
	}
	var named []string
	for _, name := range manifest.LogicalFiles["conversations.json"].Files {
		if name = path.Join(path.Dir(f.name), name); filepath.IsLocal(name) {
			named = append(named, name)
		}
	}
	return named, nil
}

// keys are the keys of a JSON object, which may be cut off.
func keys(raw []byte) map[string]bool {
	found := map[string]bool{}
	c := jsontext.Cursor{Data: raw}
	if !c.Space() || raw[c.Pos] != '{' {
		return nil
	}
	for c.Pos++; c.Space() && raw[c.Pos] == '"'; c.Pos++ { // ','
		key, ok := c.Key()
		if !ok {
			break
		}
		found[string(key)] = true
		if !c.Value(1) || !c.Space() {
			break
		}
	}
	return found
}

// reason returns what an export is instead of one. first is the beginning of its first
// value.
func (e *export) reason(first []byte) string {
	const inPlace = ", which is read in place: see the command stores"
	has := keys(first)
	switch {
	case bytes.Contains(first, []byte(`"thread.started"`)):
		return "it is a stream of codex exec --json; what Codex records of it in ~/.codex is read in place"
	case has["type"] && has["payload"] && bytes.Contains(first, []byte(`"session_meta"`)):
		return "it is a session of Codex" + inPlace
	case has["sessionId"] && has["projectHash"]:
		return "it is a session of Gemini CLI" + inPlace
	case has["sessionId"] && (has["type"] || has["parentUuid"]):
		return "it is a session of Claude Code" + inPlace
	case e.nested > 0:
		return "there are only zips in it: unpack it, and import these"
	}
	return ""
}
