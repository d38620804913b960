package conversations

import (
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

// filesOf returns the paths of the changed files as an index keeps them: each on a line, once. It leaves out paths that
// are too long or have a line break, and those after the first maxFiles.
func filesOf(edits []toolcall.Edit) string {
	var files []string
	for _, e := range edits {
		if !slices.Contains(files, e.Path) && len(files) < maxFiles && len(e.Path) <= maxPath && !strings.Contains(e.Path, "\n") {
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

// fileFilter returns the filter for a file. The file is an absolute path, a path relative to the root of the project,
// or the end of a path.
func (l *Library) fileFilter(file string) *fileFilter {
	f := &fileFilter{}
	if l.project != nil {
		f.roots = l.project.Roots()
	}
	if real, err := filepath.EvalSymlinks(filepath.Dir(file)); err == nil && filepath.IsAbs(file) {
		file = filepath.Join(real, filepath.Base(file))
	}
	isInside := false
	f.path, isInside = f.relative(slashed(file))
	f.isExact = isInside || path.IsAbs(f.path)
	if len(f.roots) > 0 && !f.isExact {
		_, err := os.Lstat(filepath.Join(f.roots[0], filepath.FromSlash(f.path)))
		f.isExact = err == nil
	}
	return f
}

// slashed returns a path with slashes and without elements such as "..".
func slashed(name string) string { return path.Clean(strings.ReplaceAll(name, `\`, "/")) }

// relative returns an absolute path relative to the root of the project that has the file. If none has, it returns the
// path and false.
func (f *fileFilter) relative(name string) (string, bool) {
	for _, root := range f.roots {
		if rest, ok := strings.CutPrefix(name, slashed(root)+"/"); ok {
			return rest, true
		}
	}
	return name, false
}

// matches reports whether a recorded path is that of the file. A relative one is below dir, the directory of the
// conversation.
func (f *fileFilter) matches(recorded, dir string) bool {
	name := slashed(recorded)
	isAbs := path.IsAbs(name) || len(name) > 1 && name[1] == ':' // a drive of Windows
	if !isAbs && dir != "" {
		name = path.Join(slashed(dir), name)
	}
	name, isInside := f.relative(name)
	return name == f.path || (!isInside || !f.isExact) && strings.HasSuffix(name, "/"+f.path)
}

// edits returns the changes of the file by a call. dir is the directory of the conversation.
func (f *fileFilter) edits(e *transcript.Event, dir string) []toolcall.Edit {
	return slices.DeleteFunc(toolcall.Edits(e), func(edit toolcall.Edit) bool { return !f.matches(edit.Path, dir) })
}

// changes yields the messages of calls that change a file and that have a text, the newest first. For an empty text it
// looks for the name of the file. Calls that failed are among them. An error ends it.
func (s *source) changes(ctx context.Context, f *fileFilter, text string) iter.Seq2[*index.Hit, error] {
	pattern, name := excerpt.Literal(text, true), path.Base(f.path)
	if text == "" {
		pattern = excerpt.Literal(name, true)
	}
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
			_, extra, err := hit.Read()
			x := parseExtra(extra, kindOf(hit.Kind))
			isOfFile := func(recorded string) bool { return f.matches(recorded, readFacts(hit.Conversation).Dir) }
			if err == nil && (x.files == "" || !slices.ContainsFunc(strings.Split(x.files, "\n"), isOfFile)) {
				continue
			}
			if !yield(hit, err) {
				return
			}
		}
	}
}

// keepChanged keeps in the lists of the sources the conversations with a call that changes the file of the filter.
// Without a file it keeps all.
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
