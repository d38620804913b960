package index

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/index/terms"
)

const (
	manifestFile = "manifest"
	segmentExt   = ".seg"
	// maxManifest bounds what is read of a manifest, in bytes.
	maxManifest = 64 << 20
)

// manifest is the last whole state of an index.
type manifest struct {
	Version  int
	Language terms.Language `json:",omitempty"`
	Sequence int            // of the next segment
	State    State
	Segments []*named // newest first
}

// State is what is said of an index as a whole by who writes it.
type State struct {
	Note    string // whatever there is to say
	Updated int64  // Unix time
}

// named is a segment in a manifest.
type named struct {
	File string
	Size int64
	Sum  uint32 // of its footer
	Text int64  // bytes of the messages
	// Superseded are the conversations of which a newer segment has the record, or that are
	// gone, and Dead those of them whose messages here are gone.
	Superseded, Dead bitmap
}

// readManifest reads the manifest in a directory of an index in a language.
func readManifest(files directory, language terms.Language) (*manifest, error) {
	data, err := files.read(manifestFile, maxManifest)
	if err != nil {
		return nil, err
	}
	head, body, ok := strings.Cut(string(data), "\n")
	var number int
	var sum uint32
	if n, err := fmt.Sscanf(head, "convtools index %d %x", &number, &sum); !ok || err != nil || n != 2 {
		return nil, &DamageError{manifestFile, errFormat}
	}
	if number != version {
		return nil, &DamageError{manifestFile, errVersion}
	}
	if castagnoli(0, []byte(body)) != sum {
		return nil, &DamageError{manifestFile, errChecksum}
	}
	m := &manifest{}
	if err := json.Unmarshal([]byte(body), m); err != nil {
		return nil, &DamageError{manifestFile, err}
	}
	if cmp.Or(m.Language, terms.English) != cmp.Or(language, terms.English) {
		return nil, &DamageError{manifestFile, errLanguage}
	}
	for _, s := range m.Segments {
		if s == nil || sequenceOf(s.File) < 0 {
			return nil, &DamageError{manifestFile, errFormat}
		}
	}
	return m, nil
}

// write replaces the manifest in a directory.
func (m *manifest) write(files directory) error {
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	head := fmt.Sprintf("convtools index %d %x\n", version, castagnoli(0, body))
	return files.replace(manifestFile, append([]byte(head), body...))
}

func segmentName(sequence int) string { return fmt.Sprintf("%08d", sequence) + segmentExt }

// sequenceOf returns the number in the name of a segment; below 0 where it is no such name.
func sequenceOf(name string) int {
	digits, ok := strings.CutSuffix(name, segmentExt)
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || segmentName(n) != name {
		return -1
	}
	return n
}

// sweep removes segments that a manifest does not name, and what was left behind by writers
// that were killed.
func (m *manifest) sweep(files directory) error {
	names, err := files.names()
	if err != nil {
		return err
	}
	named := map[string]bool{manifestFile: true}
	for _, s := range m.Segments {
		named[s.File] = true
	}
	for _, name := range names {
		if named[name] || sequenceOf(name) < 0 && !safefile.Temporary(name) {
			continue
		}
		if e := files.remove(name); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = e
		}
	}
	return err
}
