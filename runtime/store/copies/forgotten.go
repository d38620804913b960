package copies

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/transcript"
)

// Forgotten are the conversations that the user has forgotten. They are neither read nor copied.
type Forgotten map[transcript.ID]bool

const maxForgotten = 16 << 20 // bytes of the file of ids

// forgottenFile returns the path of the file with an id on each line, or "" if the environment does not name it.
func forgottenFile(getenv func(string) string) string {
	return history.InData(getenv, "convtools", "forgotten")
}

// ReadForgotten returns the conversations that the user has forgotten; none if there is no file of them.
func ReadForgotten(getenv func(string) string) (Forgotten, error) {
	forgotten, file := Forgotten{}, forgottenFile(getenv)
	if file == "" {
		return forgotten, nil
	}
	content, err := safefile.Read(file, maxForgotten)
	if errors.Is(err, fs.ErrNotExist) {
		return forgotten, nil
	}
	for _, id := range strings.Fields(string(content)) {
		forgotten[transcript.ID(id)] = true
	}
	return forgotten, err
}

// Write replaces the file of the conversations that the user has forgotten.
func (f Forgotten) Write(getenv func(string) string) error {
	file := forgottenFile(getenv)
	if file == "" {
		return errors.New("there is no home directory")
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	var lines strings.Builder
	for _, id := range slices.Sorted(maps.Keys(f)) {
		lines.WriteString(string(id) + "\n")
	}
	return safefile.Write(file, []byte(lines.String()), 0o600)
}
