package kbconfig

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/near"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/knowledge/match"
	"github.com/convtools/convtools/runtime/trust"
)

// merge adds what a file says about topics. Scalars replace what earlier files
// said, lists add to it.
func (l *loader) merge(f *file) {
	if f == nil {
		return
	}
	switch f.owner {
	case jps:
		l.misplaced(f)
	case users:
		_, problems := trust.Parse(f.table, l.home)
		l.top(f, append(problems, trust.Misplaced(f.table, nil)...))
	case projects:
		if f.name != convtoolsFile {
			l.unknown(f, f.table, nil, "this file", []string{"kb"})
			break
		}
		l.top(f, trust.MisplacedInProject(f.table, l.getenv))
	}
	kb, ok := l.table(f, f.table, "kb")
	if !ok {
		return
	}
	l.unknown(f, kb, []string{"kb"}, "kb", []string{"topic"})
	topics, ok := l.table(f, kb, "kb", "topic")
	if !ok {
		return
	}
	for _, id := range inOrder(f, topics) {
		if !l.read(f, topics, id) {
			return
		}
	}
}

// top reports what is wrong with the tables of a file other than kb, as far as it
// restricts, or may be meant to, or nothing reads it. That is an error where it may be
// about topics too.
func (l *loader) top(f *file, misplaced []trust.Problem) {
	reported := map[string]bool{}
	for _, p := range misplaced {
		rule := RuleUnknown
		if p.Key[0] == trust.Table {
			rule = RuleTrust
		}
		l.error(f.elem(p.Elem, p.Key...), rule, p.Hint, "%s", p.Message)
		reported[p.Key[0]] = true
	}
	project := f.owner == projects
	for _, p := range trust.Unread(f.table, project) {
		key := p.Key[0]
		switch {
		case reported[key]:
		case key == "topic", key == "assistant" && hasTable(f.table[key], "kb"):
			l.error(f.at(key), RuleUnknown, "topics stand under [kb.topic.<id>]", "%s", p.Message)
		case near.Name(key, trust.Tables(project)) == "kb":
			l.error(f.at(key), RuleUnknown, p.Hint, "%s", p.Message)
		default:
			l.warning(f.at(key), RuleUnknown, p.Hint, "%s", p.Message)
		}
	}
}

// inOrder returns the ids of topics in the order in which a file mentions them.
func inOrder(f *file, topics map[string]any) []string {
	var ids []string
	seen := map[string]bool{}
	for _, key := range f.keys {
		if len(key) < 3 || key[0] != "kb" || key[1] != "topic" || seen[key[2]] {
			continue
		}
		if _, ok := topics[key[2]]; ok {
			seen[key[2]] = true
			ids = append(ids, key[2])
		}
	}
	return ids
}

// misplaced warns of topics in JP's own configuration, which JP does not accept,
// and of those in a table that belongs to JP's assistant.
func (l *loader) misplaced(f *file) {
	if f.table["kb"] != nil {
		l.warning(f.at("kb"), RulePlace, moveTopics, "JP does not start with topics in its own configuration: kb is a key that it does not know")
	}
	if assistant, ok := f.table["assistant"].(map[string]any); ok && assistant["kb"] != nil {
		l.warning(f.at("assistant", "kb"), RulePlace, "topics stand under [kb.topic.<id>], best in "+jpTopicsFile,
			"assistant.kb is not read")
	}
}

// read reads one topic. It returns false when there are too many.
func (l *loader) read(f *file, topics map[string]any, id string) bool {
	at := f.at("kb", "topic", id)
	values, ok := l.table(f, topics, "kb", "topic", id)
	if !ok {
		return true
	}
	t := l.topic(id)
	switch {
	case !validID(id):
		hint := "use letters, digits, _ and -"
		if len(id) > maxID {
			hint = fmt.Sprintf("use at most %d characters", maxID)
		}
		l.error(at, RuleID, hint, "%s cannot be the id of a topic", text.Quote(id))
		t = &topic{} // for what is wrong with the rest
	case t == nil && len(l.topics) == maxTopics:
		l.error(at, RuleLimit, "", "there are more than %d topics", maxTopics)
		return false
	case t == nil:
		t = &topic{Topic: Topic{ID: id, Enabled: true, Defined: at}}
		l.topics = append(l.topics, t)
	}
	t.usersOnly = false
	r := &topicReader{l, f, values, id, nil}
	read(r, "enable", &t.Enabled, "true or false", "write enable = false, without quotes")
	read(r, "title", &t.Title, "a string", "")
	read(r, "introduction", &t.Introduction, "a string", "")
	read(r, "description", &t.Description, "a string", "")
	r.subjects(t)
	r.patterns("learned", &t.Learned, &t.LearnedAt)
	r.patterns("disabled", &t.Disabled, &t.DisabledAt)
	l.unknown(f, values, []string{"kb", "topic", id}, "topic "+text.Quote(id), r.asked)
	return true
}

func validID(id string) bool {
	return id != "" && len(id) <= maxID && !strings.ContainsFunc(id, func(r rune) bool { return r > 'z' || !isIDByte(byte(r)) })
}

func isIDByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-'
}

// topicReader reads the keys of a topic and remembers which were asked for.
type topicReader struct {
	*loader
	f      *file
	values map[string]any
	id     string
	asked  []string
}

func (r *topicReader) at(key string) Position { return r.f.at("kb", "topic", r.id, key) }

// read reads the value of a key, which has to be of the type that want names. It
// returns false when there is none, and reports one of another type.
func read[T any](r *topicReader, key string, to *T, want, hint string) bool {
	r.asked = append(r.asked, key)
	value, ok := r.values[key]
	if !ok {
		return false
	}
	v, ok := value.(T)
	if !ok {
		r.wrongType(r.at(key), key, want, hint, value)
		return false
	}
	*to = v
	return true
}

func (r *topicReader) wrongType(at Position, key, want, hint string, got any) {
	r.error(at, RuleType, hint, "%s of topic %s must be %s, not %s", key, text.Quote(r.id), want, typeName(got))
}

// subjects reads the directory. When it is wrong, the topic has none, and that is
// not to be reported again.
func (r *topicReader) subjects(t *topic) {
	var dir string
	if !read(r, "subjects", &dir, "a string", "") {
		t.broken = t.broken || r.values["subjects"] != nil
		return
	}
	if outside, ok := trust.Expand(dir, r.home); ok && r.f.owner == users {
		t.Subjects, t.Outside, t.SubjectsAt = dir, outside, r.at("subjects")
		return
	}
	clean, problem, hint := cleanSubjects(dir)
	if problem != "" {
		t.broken = true
		r.error(r.at("subjects"), RuleSubjects, hint, "subjects of topic %s is %s, which %s", text.Quote(r.id), text.Quote(dir), problem)
		return
	}
	t.Subjects, t.Outside, t.SubjectsAt = clean, "", r.at("subjects")
}

// cleanSubjects returns a directory as a path relative to the root, or what is
// wrong with it. The rules are the same on every system: a file that works on one
// computer works on those of others.
func cleanSubjects(dir string) (clean, problem, hint string) {
	const relative = "write a path relative to the workspace, such as .jp/kb/project"
	drive := len(dir) >= 2 && dir[1] == ':' && isIDByte(dir[0])
	switch {
	case strings.TrimSpace(dir) == "":
		return "", "is empty", relative
	case strings.HasPrefix(dir, "/"), strings.HasPrefix(dir, `\`), drive:
		return "", "is an absolute path", relative
	case dir == "~" || strings.HasPrefix(dir, "~/"):
		return "", "leads to the home directory", relative
	case strings.Contains(dir, `\`):
		return "", `contains "\"`, "separate directories by /"
	case slices.Contains(strings.Split(dir, "/"), ".."):
		return "", `contains ".."`, "write a path inside the workspace; only your own configuration may name a directory elsewhere"
	case strings.ContainsFunc(dir, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "", "contains control characters", relative
	}
	clean = path.Clean(dir)
	if !filepath.IsLocal(filepath.FromSlash(clean)) {
		return "", "this system cannot have in a workspace", relative
	}
	return clean, "", ""
}

func (r *topicReader) patterns(key string, to *[]string, at *[]Position) {
	hint := fmt.Sprintf(`write %s = ["…", "…"]`, key)
	if s, ok := r.values[key].(string); ok {
		hint = fmt.Sprintf("write %s = [%s]", key, text.Quote(s))
	}
	var items []any
	if !read(r, key, &items, "an array of strings", hint) {
		return
	}
	for i, item := range items {
		place := r.f.elem(i, "kb", "topic", r.id, key)
		pattern, ok := item.(string)
		switch {
		case !ok:
			r.wrongType(place, key, "an array of strings", "", item)
		case strings.TrimSpace(pattern) == "":
			r.error(place, RulePattern, "remove it; ** is for all subjects", "%s of topic %s has an empty pattern", key, text.Quote(r.id))
		case !r.addPattern(to, at, pattern, place, key, r.id):
			return
		}
	}
}

// addPattern adds a pattern to a list that has each once, and reports one that
// cannot be read. It returns false, and reports, when there are too many.
func (l *loader) addPattern(to *[]string, at *[]Position, pattern string, place Position, key, id string) bool {
	if slices.Contains(*to, pattern) {
		return true
	}
	if err := match.Validate(pattern); err != nil {
		l.error(place, RulePattern, "", "%s in %s of topic %s %s", text.Quote(pattern), key, text.Quote(id), err)
		return true
	}
	if len(*to) == maxPatterns {
		l.error(place, RuleLimit, "one pattern can be for many subjects: dir/** is for all below dir",
			"%s of topic %s has more than %d patterns", key, text.Quote(id), maxPatterns)
		return false
	}
	*to, *at = append(*to, pattern), append(*at, place)
	return true
}

// table returns the table that the last part of path names in the one around it.
// It returns false when there is none, and reports when there is something else.
func (l *loader) table(f *file, around map[string]any, path ...string) (map[string]any, bool) {
	v, ok := around[path[len(path)-1]]
	if !ok {
		return nil, false
	}
	m, ok := v.(map[string]any)
	if ok {
		return m, true
	}
	l.incomplete = true
	name, header := strings.Join(path, "."), "kb.topic.<id>"
	if len(path) == 3 && validID(path[2]) {
		header = name
	}
	hint := fmt.Sprintf("write [%s] above the keys of a topic", header)
	if _, ok := v.([]map[string]any); ok {
		hint = fmt.Sprintf("write [%s], with one pair of brackets", header)
	}
	l.error(f.at(path...), RuleType, hint, "%s must be a table, not %s", text.Quote(name), typeName(v))
	return nil, false
}

// unknown reports the keys of a table that are not among those it may have. Their
// spelling has to be exact, case too.
func (l *loader) unknown(f *file, table map[string]any, path []string, what string, known []string) {
	for _, key := range slices.Sorted(maps.Keys(table)) {
		if slices.Contains(known, key) {
			continue
		}
		hint := ""
		near := near.Name(key, known)
		switch {
		case len(path) == 0 && key == "topic":
			hint = "topics stand under [kb.topic.<id>]"
		case len(path) == 1 && isTable(table[key]) && near == "":
			hint = "topics stand under [kb.topic.<id>]"
		case len(path) == 3 && isTable(table[key]):
			hint = "a topic has no tables, and its id no dot"
		case near != "":
			hint = "did you mean " + text.Quote(near) + "?"
		default:
			hint = "known here: " + strings.Join(known, ", ")
		}
		l.error(f.at(slices.Concat(path, []string{key})...), RuleUnknown, hint, "unknown key %s in %s", text.Quote(key), what)
	}
}

func isTable(v any) bool { _, ok := v.(map[string]any); return ok }

func hasTable(v any, key string) bool {
	m, ok := v.(map[string]any)
	return ok && isTable(m[key])
}

func typeName(v any) string {
	switch v.(type) {
	case string:
		return "a string"
	case int64:
		return "an integer"
	case float64:
		return "a float"
	case bool:
		return "a boolean"
	case []any:
		return "an array"
	case []map[string]any:
		return "an array of tables"
	case map[string]any:
		return "a table"
	default:
		return "a date or time"
	}
}
