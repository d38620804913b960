package trust

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/near"
	"github.com/convtools/convtools/runtime/base/text"
)

// Tables returns the names of the tables that a configuration file may have: that of the user, or of a project.
func Tables(project bool) []string {
	tables := []string{"kb", "mcp", "model", "session"}
	if project {
		return tables
	}
	return append(tables, "index", "recall", "stores", Table)
}

// Misplaced returns the names in the user's decoded configuration file that may be meant to restrict something and do
// not: they are near one that does, and stand where nothing reads them. Where there is one, nothing may be read that it
// may be meant for. What is inside of [stores] and [trust] is left to those who read them, as no name there is without
// meaning. kinds are the names of kinds of stores, which are such names at the top of the file; they may be nil.
func Misplaced(file map[string]any, kinds []string) []Problem {
	const argument = "no file has one: it is an argument of conv.create"
	hints := map[string]string{
		"stores": "did you mean [stores]?", Table: "did you mean [trust]?", "exclude": "write it below [stores]",
		"off": "write it below [stores] or [index]", "allowlist": argument, "mcp_allowlist": argument,
	}
	m := misplaced{tables: Tables(false), hints: hints, kinds: kinds}
	m.look(nil, file)
	return m.problems
}

// MisplacedInProject is [Misplaced] for the file of a project, in which nothing restricts what is read.
func MisplacedInProject(file map[string]any, getenv func(string) string) []Problem {
	mine, alone := ", in their own configuration file", ", in their own configuration file"
	if _, name, ok := UserFile(getenv); ok {
		mine, alone = ", in "+name, ": it is read from "+name+" alone"
	}
	hints := map[string]string{Table: "whom to trust is the user's to say" + alone}
	for _, name := range []string{"stores", "exclude", "off", "allowlist", "mcp_allowlist"} {
		hints[name] = "what is read of stores of conversations is the user's to say" + mine + "; a file called .convtools-exclude excludes this project"
	}
	m := misplaced{tables: Tables(true), hints: hints}
	m.look(nil, file)
	return m.problems
}

// Unread returns the names at the top of a decoded configuration file that nothing reads. Those of [Misplaced] are
// among them.
func Unread(file map[string]any, project bool) []Problem {
	var problems []Problem
	tables := Tables(project)
	for _, key := range slices.Sorted(maps.Keys(file)) {
		if slices.Contains(tables, key) {
			continue
		}
		hint := "known here: " + strings.Join(tables, ", ")
		if near := near.Name(key, tables); near != "" {
			hint = "did you mean [" + near + "]?"
		}
		problems = append(problems, Problem{[]string{key}, -1, "unknown key " + text.Quote(key) + ", which is not read", hint})
	}
	return problems
}

// misplaced looks for names that restrict nothing.
type misplaced struct {
	tables   []string          // that the file may have
	hints    map[string]string // by the name that restricts
	kinds    []string
	problems []Problem
}

func (m *misplaced) look(path []string, table map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(table)) {
		at := append(slices.Clip(path), key)
		below := tablesIn(table[key])
		if hint, ok := m.meant(at, below != nil); ok {
			in := ""
			if len(path) > 0 {
				in = " in [" + text.Line(text.Cut(strings.Join(path, "."), 80)) + "]"
			}
			m.problems = append(m.problems, Problem{at, -1, fmt.Sprintf("unknown key %s%s", text.Quote(key), in), hint})
			continue
		}
		for _, table := range below {
			if !m.others(at) {
				m.look(at, table)
			}
		}
	}
}

// meant reports whether the last name of a path may be meant to restrict, and what to do about it then.
func (m *misplaced) meant(at []string, isTable bool) (hint string, ok bool) {
	key := at[len(at)-1]
	names := slices.Collect(maps.Keys(m.hints))
	switch top := at[0]; {
	case len(at) == 1 && slices.Contains(m.tables, key):
		return "", false
	case len(at) == 1:
		names = slices.Concat(names, m.tables, m.kinds)
	case len(at) == 2 && (top == "mcp" || top == "model") && isTable, len(at) == 3 && top == "kb" && at[1] == "topic" && isTable:
		return "", false // a name that the user chooses
	case len(at) == 2 && top == "index" && key == "off" && slices.Contains(m.tables, top):
		return "", false
	}
	name := near.Name(key, names)
	if strings.HasPrefix(strings.ToLower(key), "exclu") || len(at) == 1 && slices.Contains(synonyms(), strings.ToLower(key)) {
		name = "exclude"
	}
	if slices.Contains(m.kinds, name) {
		name = "exclude"
	}
	hint, ok = m.hints[name]
	return hint, ok
}

// synonyms are names that a file has none of at its top, and whose meaning is that something is not to be read.
func synonyms() []string {
	return []string{"allow", "blacklist", "block", "blocklist", "denied", "deny", "hidden", "hide", "ignore", "ignored", "ignores", "privacy", "private", "secret", "skip"}
}

// others reports whether what is in a table is for others to judge: who reads it, or the program that it is for.
func (m *misplaced) others(at []string) bool {
	switch top := at[0]; len(at) {
	case 1:
		return slices.Contains(m.tables, top) && (top == "stores" || top == Table)
	case 3:
		return top == "mcp" || top == "model" // env, request
	}
	return false
}

// tablesIn returns the tables that a value is or has; nil where it is none.
func tablesIn(value any) []map[string]any {
	switch value := value.(type) {
	case map[string]any:
		return []map[string]any{value}
	case []map[string]any:
		return value
	case []any:
		var all []map[string]any
		for _, item := range value {
			all = append(all, tablesIn(item)...)
		}
		return all
	}
	return nil
}
