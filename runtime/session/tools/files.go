package tools

import (
	"encoding/base64"
	"errors"
	"io/fs"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/session"
)

const (
	maxInstruction = 1 << 20 // bytes of a base_instruction_file
	maxImage       = 8 << 20 // bytes of an image file
	maxImages      = 16777216
)

// text returns the content of a text file. The error is a [*session.Refusal].
func (r *reader) text(path, field string) (string, error) {
	data, err := r.read(path, maxInstruction)
	if err == nil && !utf8.Valid(data) {
		err = unusable("it is not UTF-8")
	}
	return strings.TrimPrefix(string(data), "\ufeff"), unreadable(path, field, err)
}

// image returns an image file as a data: URL. The error is a [*session.Refusal].
func (r *reader) image(path, field string) (string, error) {
	data, err := r.read(path, maxImage)
	r.images += len(data)
	kind := http.DetectContentType(data)
	switch {
	case err != nil:
	case r.images > maxImages:
		err = unusable("the image files of one call have more than 16777216 bytes")
	case !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, kind):
		err = unusable("it is not a PNG, JPEG, GIF or WebP image")
	}
	return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(data), unreadable(path, field, err)
}

// read reads a file of the workspace. Links cannot lead out of the workspace.
func (r *reader) read(path string, most int64) ([]byte, error) {
	if r.settings.Root == "" {
		return nil, unusable("there is no workspace here: a project has a directory .jp or a file convtools.toml")
	}
	root, err := safefile.OpenDir(r.settings.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.settings.Dir, path)
	}
	real, _ := filepath.EvalSymlinks(r.settings.Root) // path may have it in place of a link
	for _, dir := range []string{r.settings.Root, real} {
		if inside, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(inside) {
			return safefile.ReadIn(root, inside, most)
		}
	}
	return nil, unusable("it is outside of the workspace")
}

// unusable is the reason why a file cannot be used.
type unusable string

func (u unusable) Error() string { return string(u) }

// unreadable returns err as a refusal of the call that names the file. It names no path except that of the call.
func unreadable(path, field string, err error) error {
	if err == nil {
		return nil
	}
	if outer := (*fs.PathError)(nil); errors.As(err, &outer) {
		err = outer.Err
	}
	reason := "it cannot be read, or it lies behind a link out of the workspace"
	var tooLarge *safefile.TooLargeError
	var known unusable
	switch {
	case errors.Is(err, fs.ErrNotExist):
		reason = "there is no such file"
	case errors.Is(err, fs.ErrPermission):
		reason = "it may not be read"
	case errors.Is(err, safefile.ErrNotRegular), errors.As(err, &tooLarge), errors.As(err, &known):
		reason = err.Error()
	}
	return &session.Refusal{Code: session.CodeUnreadableFile, Field: field, Reason: text.Quote(path) + " cannot be used: " + reason}
}
