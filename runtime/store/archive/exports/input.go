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
	left   int64 // bytes that may be unpacked
	nested int   // zips in it
}

const (
	maxRatio = 200 // of what is unpacked to what was packed
	minRoom  = 64 << 20
	maxIndex = 16 << 20 // of a manifest
)

// open opens an export, and finds out what it is.
func open(name string) (e *export, err error) {
	e = &export{}
	if root, failed := safefile.OpenDir(name); failed == nil {
		e.closer = root
		err = e.folder(root)
	} else if f, info, failed := safefile.Open(name); failed == nil {
		e.closer = f
		err = e.file(name, f, info.Size())
	} else {
		return nil, &InputError{Path: name, Err: failed}
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
		if err != nil || !d.Type().IsRegular() {
			return nil // the files of a folder that cannot be read are not there
		}
		if info, err := d.Info(); err == nil { // else it is gone
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
	n, _ := f.ReadAt(head[:], 0) // what cannot be read is told of later
	switch begin := string(head[:n]); {
	case begin == "SQLite format 3\x00":
		return &UnrecognisedError{Path: name, Reason: "it is a database; one of a ChatGPT export is read in place: set CONVERSATION_DB to its path"}
	case !strings.HasPrefix(begin, "PK"):
		e.all = []file{{name: filepath.Base(name), size: size, expected: true, open: func() (io.ReadCloser, error) { return io.NopCloser(f), nil }}}
		return nil
	}
	e.left = minRoom + maxRatio*size
	archive, err := zip.NewReader(f, size)
	if err != nil {
		return &InputError{Path: name, Err: fmt.Errorf("it is a zip that is damaged or not complete, as after a download that was interrupted: %w", err)}
	}
	for _, f := range archive.File {
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
	if u.export.left -= int64(n); u.export.left < 0 {
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
		switch base := strings.ToLower(path.Base(f.name)); path.Ext(base) {
		case ".json", ".jsonl", ".af":
			if !filepath.IsLocal(f.name) {
				problems = append(problems, Problem{File: f.name, Err: errOutside})
			} else if base == "export_manifest.json" {
				more, err := readManifest(&f)
				if err != nil {
					problems = append(problems, Problem{File: f.name, Err: err})
				}
				named = append(named, more...)
			} else {
				stem, is := strings.CutPrefix(strings.TrimSuffix(base, ".json"), "conversations")
				f.expected = is && strings.Trim(stem, "-_0123456789") == ""
				files = append(files, f)
			}
		case ".zip":
			e.nested++
		}
	}
	for _, name := range named {
		if at := slices.IndexFunc(files, func(f file) bool { return f.name == name }); at >= 0 {
			files[at].expected = true
		} else {
			problems = append(problems, Problem{File: name, Err: errMissing})
		}
	}
	slices.SortFunc(files, func(a, b file) int {
		return cmp.Or(cmp.Compare(len(a.name), len(b.name)), strings.Compare(a.name, b.name))
	})
	return files, problems
}

// readManifest returns the paths of the files with conversations that a manifest names.
func readManifest(f *file) (named []string, err error) {
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
		err = json.Unmarshal(bytes.TrimPrefix(data, []byte(utf8BOM)), &manifest)
	}
	if err != nil {
		return nil, errManifest
	}
	for _, name := range manifest.LogicalFiles["conversations.json"].Files {
		if name = path.Join(path.Dir(f.name), name); filepath.IsLocal(name) {
			named = append(named, name)
		}
	}
	return named, nil
}

// reason returns what an export is instead of one. first is the beginning of its first
// value.
func (e *export) reason(first []byte) string {
	const inPlace = ", which is read in place: see the command stores"
	has := func(name string) bool { return bytes.Contains(first, []byte(`"`+name+`"`)) }
	switch {
	case has("thread.started"):
		return "it is a stream of codex exec --json; what Codex records of it in ~/.codex is read in place"
	case has("payload") && has("session_meta"):
		return "it is a session of Codex" + inPlace
	case has("sessionId") && has("projectHash"):
		return "it is a session of Gemini CLI" + inPlace
	case has("sessionId") && (has("type") || has("parentUuid")):
		return "it is a session of Claude Code" + inPlace
	case e.nested > 0:
		return "there are only zips in it: unpack it, and import these"
	}
	return ""
}
