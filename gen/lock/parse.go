package lock

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode"

	"github.com/convtools/convtools/gen/ir"
)

// fact is one line of the file.
type fact struct {
	steps []step
	key   string // empty: the fact is that the thing exists
	value string // JSON
}

// step is one level of what a fact is about: "parameter limit".
type step struct{ kind, name string }

// kinds is what a thing of a kind can hold.
func kinds(kind string) []string {
	switch kind {
	case "":
		return []string{"tool", "error"}
	case "tool":
		return []string{"alias", "parameter", "element", "field", "code"}
	case "parameter", "member":
		return []string{"member", "variant"}
	case "field":
		return []string{"field", "variant"}
	case "variant":
		return []string{"member", "field"}
	case "element":
		return []string{"attribute", "child"}
	}
	return nil
}

// keyType returns what the key of a thing is, and whether there is such a key.
func keyType(kind, key string) (valueType, bool) {
	if kind == "parameter" || kind == "member" {
		return parameterKey(key)
	}
	t, known := map[string]map[string]valueType{
		"tool": {
			"effect": text, "exclusive": manyLists, "at_least_one": manyLists, "exactly_one": manyLists, "requires": manyLists,
			"answer": text, "root": text, "max_chars": count, "fields": list,
		},
		"alias":     {"until": text},
		"field":     {"type": text, "presence": text, "key": text, "fields": list},
		"variant":   {"fields": list},
		"element":   {"body": text, "separator": text, "attributes": list, "children": list},
		"attribute": {"type": text, "presence": text, "fixed": text},
		"child":     {"occurs": text},
	}[kind][key]
	return t, known
}

// parameterKey is the same for a parameter. The keys of its items have a prefix.
func parameterKey(key string) (valueType, bool) {
	switch key {
	case "one_or_many", "required":
		return flag, true
	case "default":
		return anything, true
	case "repair":
		return manyTexts, true
	}
	inner := key
	for strings.HasPrefix(inner, "items.") {
		inner = strings.TrimPrefix(inner, "items.")
	}
	switch inner {
	case "type", "key":
		return text, true
	case "nullable":
		return flag, true
	}
	for _, row := range ir.ConstraintTable() {
		if row.Key != inner {
			continue
		}
		switch row.Form {
		case ir.Least, ir.Most:
			if row.Unit != "" {
				return count, true
			}
			return number, true
		case ir.Flag:
			return flag, true
		case ir.List:
			return manyTexts, true
		case ir.Text:
			return text, true
		case ir.Remark:
		}
	}
	return anything, false
}

type valueType int

const (
	anything valueType = iota
	text
	count
	number
	flag
	list
	manyTexts
	manyLists
)

func (t valueType) many() bool { return t == manyTexts || t == manyLists }

func (t valueType) accepts(value string) bool {
	var err error
	switch t {
	case anything:
		return json.Valid([]byte(value))
	case text, manyTexts:
		_, err = decode[string](value)
	case count:
		_, err = decode[int64](value)
	case number:
		_, err = decode[float64](value)
	case flag:
		return value == "true"
	case list, manyLists:
		_, err = decode[[]string](value)
	}
	return err == nil && value != "null"
}

func decode[T any](value string) (T, error) {
	var v T
	err := json.Unmarshal([]byte(value), &v)
	return v, err
}

func parseFact(line string) (fact, error) {
	var f fact
	subject, property, hasProperty := strings.Cut(line, ": ")
	parent := ""
	for part := range strings.SplitSeq(subject, ", ") {
		kind, name, _ := strings.Cut(part, " ")
		if !slices.Contains(kinds(parent), kind) {
			return f, fmt.Errorf("%q is no fact of a contract: no %q is known here", line, kind)
		}
		if name == "" || strings.ContainsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsGraphic(r) }) {
			return f, fmt.Errorf("%q is no fact of a contract: %q is no name", line, name)
		}
		f.steps = append(f.steps, step{kind, name})
		parent = kind
	}
	if !hasProperty {
		return f, nil
	}
	key, value, ok := strings.Cut(property, " = ")
	kind, known := keyType(parent, key)
	if !ok || !known {
		return f, fmt.Errorf("%q is no fact of a contract: no key %q is known here", line, key)
	}
	if !kind.accepts(value) {
		return f, fmt.Errorf("%q is no fact of a contract: %s cannot have the value %s", line, key, value)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(value)); err != nil {
		return f, fmt.Errorf("%q is no fact of a contract: %w", line, err)
	}
	f.key, f.value = key, compact.String()
	return f, nil
}

// node is a thing with what the facts say about it.
type node struct {
	subject  string
	values   map[string][]string // JSON, sorted
	children map[step]*node
}

func newNode(subject string) *node {
	return &node{subject: subject, values: map[string][]string{}, children: map[step]*node{}}
}

// tree builds what the facts say. Two values for a key of one value, which a bad
// merge leaves behind, are an error.
func tree(facts []string) (*node, error) {
	root := newNode("")
	for _, line := range facts {
		f, err := parseFact(line)
		if err != nil {
			return nil, err
		}
		at, parent := root, ""
		for _, s := range f.steps {
			next := at.children[s]
			if next == nil {
				subject := s.kind + " " + s.name
				if at.subject != "" {
					subject = at.subject + ", " + subject
				}
				next = newNode(subject)
				at.children[s] = next
			}
			at, parent = next, s.kind
		}
		if f.key == "" || slices.Contains(at.values[f.key], f.value) {
			continue
		}
		if t, _ := keyType(parent, f.key); len(at.values[f.key]) > 0 && !t.many() {
			return nil, fmt.Errorf("%s has two values for %s: %s and %s", at.subject, f.key, at.values[f.key][0], f.value)
		}
		at.values[f.key] = append(at.values[f.key], f.value)
		sort.Strings(at.values[f.key])
	}
	return root, nil
}

// pairs matches the things of a kind in two trees by their names, which it
// sorts by.
func pairs(before, after *node, kind string) []pair {
	var all []pair
	for s, b := range before.children {
		if s.kind == kind {
			all = append(all, pair{s.name, b, after.children[s]})
		}
	}
	for s, a := range after.children {
		if s.kind == kind && before.children[s] == nil {
			all = append(all, pair{s.name, nil, a})
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].name < all[j].name })
	return all
}

// pair is a thing before and after; one of them is nil where it came or went.
type pair struct {
	name          string
	before, after *node
}

// value returns the JSON of a key of one value, or "".
func (n *node) value(key string) string {
	if len(n.values[key]) == 0 {
		return ""
	}
	return n.values[key][0]
}

// text returns a string value. Values were checked when they were parsed.
func (n *node) text(key string) string {
	s, _ := decode[string](n.value(key))
	return s
}

func (n *node) number(key string) (float64, bool) {
	v := n.value(key)
	if v == "" {
		return 0, false
	}
	number, _ := decode[float64](v)
	return number, true
}

func (n *node) list(key string) []string {
	l, _ := decode[[]string](n.value(key))
	return l
}
