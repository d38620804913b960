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

// Parse parses a contract.lock. Releases up to 0.1 wrote one fact a line. The error names the line.
func Parse(data []byte) (Contract, error) {
	if text := bytes.TrimSpace(data); len(text) == 0 || text[0] != '{' {
		return parseLines(string(data))
	}
	c := Contract{}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	err := dec.Decode(&c)
	if _, more := dec.Token(); err == nil && more == nil {
		err = errors.New("there is more text after the contract")
	}
	if err != nil {
		at := dec.InputOffset()
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			at = syntax.Offset
		}
		return nil, fmt.Errorf("line %d: %w", bytes.Count(data[:at], []byte("\n"))+1, err)
	}
	return c, nil
}

// parseLines reads facts such as
//
//	tool conversation_grep, parameter limit: maximum = 200
//
// Each line names its item. If the fact is more than the existence of the item, a key and a JSON value follow.
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

func (c Contract) addLine(line string) error {
	subject, property, hasProperty := strings.Cut(line, ": ")
	at := map[string]any(c)
	for part := range strings.SplitSeq(subject, ", ") {
		kind, name, ok := strings.Cut(part, " ")
		if !ok || !slices.Contains(kinds(), kind) {
			return fmt.Errorf("no %q is known here", part)
		}
		at = within(within(at, kind), name)
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
	if has, there := at[key]; isMany(key) {
		list, _ := has.([]any)
		value = append(list, value)
	} else if there && ir.JSON(has) != ir.JSON(value) {
		return fmt.Errorf("%s is %s already", key, ir.JSON(has))
	}
	at[key] = value
	return nil
}

// kinds returns the kinds of items.
func kinds() []string {
	return []string{"tool", "error", "alias", "parameter", "member", "variant", "element", "attribute", "child", "field", "code"}
}

// within returns a member that is an object, and creates it if it does not exist.
func within(object map[string]any, name string) map[string]any {
	inner, ok := object[name].(map[string]any)
	if !ok {
		inner = map[string]any{}
		object[name] = inner
	}
	return inner
}

// isMany reports whether a key has several values in no particular order.
func isMany(key string) bool {
	return slices.Contains([]string{"exclusive", "at_least_one", "exactly_one", "requires", "repair"}, key) || key[strings.LastIndex(key, ".")+1:] == "enum"
}

// node is an item with its facts.
type node struct {
	subject string
	facts   map[string]any
}

// pair is an item before and after; before is nil if it was added, and after is nil if it was removed.
type pair struct {
	name          string
	before, after *node
}

// pairs matches the items of a kind in before and after by name, sorted by name.
func pairs(before, after *node, kind string) []pair {
	was, is := before.children(kind), after.children(kind)
	names := slices.Collect(maps.Keys(was))
	for name := range is {
		if was[name] == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	all := make([]pair, len(names))
	for i, name := range names {
		all[i] = pair{name, was[name], is[name]}
	}
	return all
}

// children returns the items of a kind by name. Items without facts are a list of names.
func (n *node) children(kind string) map[string]*node {
	all := map[string]*node{}
	add := func(name string, facts any) {
		subject := kind + " " + name
		if n.subject != "" {
			subject = n.subject + ", " + subject
		}
		inner, _ := facts.(map[string]any)
		all[name] = &node{subject, inner}
	}
	switch group := n.facts[kind].(type) {
	case map[string]any:
		for name, facts := range group {
			add(name, facts)
		}
	case []any:
		for _, name := range group {
			if name, ok := name.(string); ok {
				add(name, nil)
			}
		}
	}
	return all
}

// value returns the JSON of a fact, or "".
func (n *node) value(key string) string {
	if n.facts[key] == nil {
		return ""
	}
	return ir.JSON(n.facts[key])
}

// values returns the JSON of each value of a key with several values, sorted.
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

// word returns a fact as text, or as JSON if it is not a string.
func (n *node) word(key string) string { return cmp.Or(n.text(key), n.value(key)) }

func (n *node) number(key string) (float64, bool) {
	number, _ := n.facts[key].(json.Number)
	value, err := number.Float64()
	return value, err == nil
}

func (n *node) list(key string) []string { return texts(n.facts[key]) }

func texts(value any) []string {
	list, _ := value.([]any)
	var all []string
	for _, item := range list {
		if s, ok := item.(string); ok {
			all = append(all, s)
		}
	}
	return all
}
