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
	maxInstruction = 1 << 20  // bytes of a base_instruction_file
	maxImage       = 8 << 20  // bytes of a local image
	maxImages      = 16777216 // bytes of all local images of a call
)

// text returns the content of a text file. The error is a [*session.Refusal].
func (r *reader) text(path, field string) (string, error) {
	data, err := r.read(path, maxInstruction)
	content := strings.TrimPrefix(string(data), "\ufeff")
	if err == nil && !utf8.ValidString(content) {
		err = unfit("it is not UTF-8")
	}
	return content, unreadable(path, field, err)
}

// image returns an image file as a data: URL. The error is a [*session.Refusal].
func (r *reader) image(path, field string) (string, error) {
	data, err := r.read(path, maxImage)
	r.images += len(data)
	kind := http.DetectContentType(data)
	switch {
	case err != nil:
	case r.images > maxImages:
		err = unfit("the image files of one call have more than 16777216 bytes")
	case !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, kind):
		err = unfit("it is not a PNG, JPEG, GIF or WebP image")
	}
	return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(data), unreadable(path, field, err)
}

// read reads a file of the workspace. It never leaves the workspace, even through a link.
func (r *reader) read(path string, most int64) ([]byte, error) {
	if r.settings.Root == "" {
		return nil, unfit("there is no workspace here: a project has a directory .jp or a file convtools.toml")
	}
	root, err := safefile.OpenDir(r.settings.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.settings.Dir, path)
	}
	inside, err := filepath.Rel(r.settings.Root, path)
	if err != nil || !filepath.IsLocal(inside) {
		// The workspace may be reached through a link: compare with its real path.
		real, unknown := filepath.EvalSymlinks(r.settings.Root)
		if inside, err = filepath.Rel(real, path); unknown != nil || err != nil || !filepath.IsLocal(inside) {
			return nil, unfit("it is outside of the workspace")
		}
	}
	return safefile.ReadIn(root, inside, most)
}

// unfit is why a file cannot be used.
type unfit string

func (u unfit) Error() string { return string(u) }

// unreadable returns the refusal of a call that names a file which cannot be used, and nil where the error is. It names
// no place but the one that the call did.
func unreadable(path, field string, err error) error {
	if err == nil {
		return nil
	}
	cause := "it cannot be read, or it lies behind a link out of the workspace"
	var tooLarge *safefile.TooLargeError
	var known unfit
	switch {
	case errors.Is(err, fs.ErrNotExist):
		cause = "there is no such file"
	case errors.Is(err, fs.ErrPermission):
		cause = "it may not be read"
	case errors.Is(err, safefile.ErrNotRegular):
		cause = safefile.ErrNotRegular.Error()
	case errors.As(err, &tooLarge):
		cause = tooLarge.Error()
	case errors.As(err, &known):
		cause = known.Error()
	}
	return &session.Refusal{Code: session.CodeUnreadableFile, Field: field, Reason: text.Quote(path) + " cannot be used: " + cause}
}
