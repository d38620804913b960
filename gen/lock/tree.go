package lock

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/convtools/convtools/gen/ir"
)

// Contract is the facts of a contract, as decoded from JSON.
type Contract map[string]any

// Parse parses a contract.lock: JSON, or the text of releases up to 0.1 with one fact a line. An error names the line.
func Parse(data []byte) (Contract, error) {
	if text := bytes.TrimSpace(data); len(text) == 0 || text[0] != '{' {
		return parseLines(string(data))
	}
	c := Contract{}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	err := dec.Decode(&c)
	if _, endErr := dec.Token(); err == nil && endErr == nil { // there is another token
		err = errors.New("there is more text after the contract")
	}
	if err != nil {
		offset := dec.InputOffset()
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			offset = syntax.Offset
		}
		return nil, fmt.Errorf("line %d: %w", bytes.Count(data[:offset], []byte("\n"))+1, err)
	}
	return c, nil
}

// parseLines reads lines such as "tool conversation_grep, parameter limit: maximum = 200". Each line names an item, which
// exists then. A key and a JSON value may follow: they are a fact of the item. Empty lines and lines that begin with #
// are skipped.
func parseLines(text string) (Contract, error) {
	c := Contract{}
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := c.addLine(line); err != nil {
			return nil, fmt.Errorf("line %d: %q is no fact of a contract: %w", i+1, line, err)
		}
	}
	return c, nil
}

// addLine adds a line such as
//
//	tool conversation_grep, parameter limit: maximum = 200
//
// to c: c["tool"]["conversation_grep"]["parameter"]["limit"]["maximum"] becomes 200. A line without a colon adds only
// the item, with no fact. addLine returns an error for an unknown kind of item, for a value that is not JSON, and for a
// key that has a different value already. A key such as "enum", for which isSet is true, collects the values instead.
func (c Contract) addLine(line string) error {
	subject, property, hasProperty := strings.Cut(line, ": ")
	kinds := []string{"tool", "error", "alias", "parameter", "member", "variant", "element", "attribute", "child", "field", "code"}
	item := map[string]any(c)
	for part := range strings.SplitSeq(subject, ", ") {
		kind, name, ok := strings.Cut(part, " ")
		if !ok || !slices.Contains(kinds, kind) {
			return fmt.Errorf("no %q is known here", part)
		}
		item = subobject(subobject(item, kind), name) // item[kind][name]
	}
	if !hasProperty {
		return nil
	}
	key, text, _ := strings.Cut(property, " = ")
	var value any
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&value); err != nil {
		return err
	}
	before, exists := item[key]
	switch {
	case isSet(key):
		values, _ := before.([]any)
		value = append(values, value)
	case exists && ir.JSON(before) != ir.JSON(value):
		return fmt.Errorf("%s is %s already", key, ir.JSON(before))
	}
	item[key] = value
	return nil
}

// subobject returns the object in the member name of object. It makes an empty one if the member is no object.
func subobject(object map[string]any, name string) map[string]any {
	inner, ok := object[name].(map[string]any)
	if !ok {
		inner = map[string]any{}
		object[name] = inner
	}
	return inner
}

// isSet reports whether a key has several values in no particular order.
func isSet(key string) bool {
	isEnum := key == "enum" || strings.HasSuffix(key, ".enum") // of a value, or of its items
	return isEnum || slices.Contains([]string{"exclusive", "at_least_one", "exactly_one", "requires", "repair"}, key)
}

// node is an item with its facts.
type node struct {
	subject string
	facts   map[string]any
}

// pair is an item of the old and of the new contract. before is nil for an added item, after is nil for a removed item.
type pair struct {
	name          string
	before, after *node
}

// pairs returns a pair for each name of an item of the given kind in before, in after or in both, sorted by name.
func pairs(before, after *node, kind string) []pair {
	oldItems, newItems := before.children(kind), after.children(kind)
	names := slices.AppendSeq(slices.Collect(maps.Keys(oldItems)), maps.Keys(newItems))
	slices.Sort(names)
	names = slices.Compact(names)
	result := make([]pair, len(names))
	for i, name := range names {
		result[i] = pair{name, oldItems[name], newItems[name]}
	}
	return result
}

// children returns the items of a kind in n by name. In the file, items without facts are a list of names.
func (n *node) children(kind string) map[string]*node {
	items := map[string]*node{}
	addNode := func(name string, facts any) {
		subject := kind + " " + name
		if n.subject != "" {
			subject = n.subject + ", " + subject
		}
		object, _ := facts.(map[string]any) // nil for a name in a list
		items[name] = &node{subject, object}
	}
	switch group := n.facts[kind].(type) {
	case map[string]any:
		for name, facts := range group {
			addNode(name, facts)
		}
	case []any:
		for _, name := range group {
			if name, ok := name.(string); ok {
				addNode(name, nil)
			}
		}
	}
	return items
}

// value returns the JSON of the fact key of n, or "" if n has none.
func (n *node) value(key string) string {
	if n.facts[key] == nil {
		return ""
	}
	return ir.JSON(n.facts[key])
}

// values returns the JSON of each value in the array under key, sorted and without repetitions.
func (n *node) values(key string) []string {
	list, _ := n.facts[key].([]any)
	values := make([]string, len(list))
	for i := range list {
		values[i] = ir.JSON(list[i])
	}
	slices.Sort(values)
	return slices.Compact(values)
}

func (n *node) text(key string) string {
	s, _ := n.facts[key].(string)
	return s
}

// word returns the fact key of n as text, as JSON if it is not a string, or as "" if n has none.
func (n *node) word(key string) string { return cmp.Or(n.text(key), n.value(key)) }

func (n *node) number(key string) (float64, bool) {
	number, _ := n.facts[key].(json.Number)
	value, err := number.Float64()
	return value, err == nil
}

func (n *node) list(key string) []string { return texts(n.facts[key]) }

// texts returns the strings in value, if it is an array.
func texts(value any) []string {
	list, _ := value.([]any)
	var result []string
	for _, item := range list {
		if s, ok := item.(string); ok {
			result = append(result, s)
		}
	}
	return result
}
