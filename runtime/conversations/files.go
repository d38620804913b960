package conversations

import (
	"cmp"
	"context"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/conversations/excerpt"
	"github.com/convtools/convtools/runtime/index"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/toolcall"
	"github.com/convtools/convtools/runtime/transcript"
)

// maxFiles is the number of files of one call that an index keeps, and maxPath the bytes of each.
const maxFiles, maxPath = 64, 1000

// filesOf returns the paths of the changed files as an index keeps them: each once, separated by line breaks. It returns
// the first maxFiles, without paths that are too long or have a line break.
func filesOf(edits []toolcall.Edit) string {
	var files []string
	for _, e := range edits {
		isKept := len(e.Path) <= maxPath && !strings.Contains(e.Path, "\n")
		if isKept && len(files) < maxFiles && !slices.Contains(files, e.Path) {
			files = append(files, e.Path)
		}
	}
	return strings.Join(files, "\n")
}

// fileFilter selects the changes of a file.
type fileFilter struct {
	path    string   // with slashes; relative to the root of the project if the file is in the project
	isExact bool     // path is all of the file's path, and not only its end
	roots   []string // of the project
}

// fileFilter returns the filter for a file: an absolute path, one relative to the project's root, or the end of a path.
func (l *Library) fileFilter(file string) *fileFilter {
	f := &fileFilter{}
	if l.project != nil {
		f.roots = l.project.Roots()
	}
	if real, err := filepath.EvalSymlinks(filepath.Dir(file)); err == nil && filepath.IsAbs(file) {
		file = filepath.Join(real, filepath.Base(file))
	}
	name, isInside := f.relative(slashed(file))
	f.path, f.isExact = name, isInside || path.IsAbs(name)
	if len(f.roots) > 0 && !f.isExact {
		_, err := os.Lstat(filepath.Join(f.roots[0], filepath.FromSlash(name)))
		f.isExact = err == nil // a file of the project, and not the end of a path
	}
	return f
}

// slashed returns a path with slashes and without elements such as "..".
func slashed(name string) string { return path.Clean(strings.ReplaceAll(name, `\`, "/")) }

// relative returns an absolute path relative to the root of the project that the path is below, and true. If the path is
// below no root, it returns the path as it is, and false.
func (f *fileFilter) relative(name string) (string, bool) {
	for _, root := range f.roots {
		if rest, ok := strings.CutPrefix(name, slashed(root)+"/"); ok {
			return rest, true
		}
	}
	return name, false
}

// matches reports whether a recorded path is the file's. A relative path is below dir, the conversation's directory.
func (f *fileFilter) matches(recorded, dir string) bool {
	name := slashed(recorded)
	isAbs := path.IsAbs(name) || len(name) > 1 && name[1] == ':' // a drive of Windows
	if !isAbs && dir != "" {
		name = path.Join(slashed(dir), name)
	}
	name, isInside := f.relative(name)
	if isInside && f.isExact {
		return name == f.path
	}
	return name == f.path || strings.HasSuffix(name, "/"+f.path)
}

// edits returns the changes of the file by a call. dir is the directory of the conversation.
func (f *fileFilter) edits(e *transcript.Event, dir string) []toolcall.Edit {
	return slices.DeleteFunc(toolcall.Edits(e), func(edit toolcall.Edit) bool { return !f.matches(edit.Path, dir) })
}

// changes yields the messages of calls that change the file of f, the newest first. Failed calls are included. Only
// messages that contain text are yielded; an empty text means the base name of the file. An error comes last.
func (s *source) changes(ctx context.Context, f *fileFilter, text string) iter.Seq2[*index.Hit, error] {
	pattern := excerpt.Literal(cmp.Or(text, path.Base(f.path)), true) // Required is the whole literal
	const calls = 1<<transcript.KindToolCall | commandKinds
	q := index.Query{
		Filter: index.Filter{Kinds: calls, Wanted: s.filter()}, Text: pattern.Required(), Has: pattern.HasRequired, TextOnly: true,
	}
	return func(yield func(*index.Hit, error) bool) {
		for hit, err := range s.view.Search(ctx, q) {
			if err != nil {
				yield(nil, err)
				return
			}
			x := parseExtra(hit.Extra, kindOf(hit.Kind))
			isOfFile := func(recorded string) bool { return f.matches(recorded, readFacts(hit.Conversation).Dir) }
			changesFile := x.files != "" && slices.ContainsFunc(strings.Split(x.files, "\n"), isOfFile)
			if changesFile && !yield(hit, nil) {
				return
			}
		}
	}
}

// keepChanged keeps in the lists of the sources only conversations with a call that changes the file of the filter. If
// the filter has no file, it keeps all.
func (q *query) keepChanged(ctx context.Context) error {
	if q.filter.File == "" {
		return nil
	}
	f := q.fileFilter(q.filter.File)
	for _, s := range q.sources {
		changed := map[string]bool{}
		if _, ok := s.open(); ok { // otherwise the reason is among the problems
			for hit, err := range s.changes(ctx, f, "") {
				if err != nil {
					return err
				}
				changed[hit.Key] = true
			}
		}
		s.list = slices.DeleteFunc(s.list, func(c store.Conversation) bool { return !changed[string(c.ID)] })
	}
	return nil
}
