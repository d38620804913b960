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

// Contract is the facts of a contract, as JSON has them.
type Contract map[string]any

// Parse reads a contract.lock. Releases up to 0.1 wrote a fact on each line.
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
// with the thing that each is about, and a key with a value in JSON where it is about more than that the
// thing exists.
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

// kinds are those of the things that facts are about.
func kinds() []string {
	return []string{"tool", "error", "alias", "parameter", "member", "variant", "element", "attribute", "child", "field", "code"}
}

// within returns a member that is an object, which it makes where there is none.
func within(object map[string]any, name string) map[string]any {
	inner, ok := object[name].(map[string]any)
	if !ok {
		inner = map[string]any{}
		object[name] = inner
	}
	return inner
}

// isMany reports whether a key has several values, whose order means nothing.
func isMany(key string) bool {
	return slices.Contains([]string{"exclusive", "at_least_one", "exactly_one", "requires", "repair"}, key) || key[strings.LastIndex(key, ".")+1:] == "enum"
}

// node is a thing with the facts about it.
type node struct {
	subject string
	facts   map[string]any
}

// pair is a thing before and after; one of them is nil where it came or went.
type pair struct {
	name          string
	before, after *node
}

// pairs matches the things of a kind in two others by their names, which it
// sorts by.
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

// children are the things of a kind, by name. Those of which only the name is known are a list.
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

// values returns the JSON of each value of a key that has several, sorted.
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

// word returns a fact that is text, or the JSON of another.
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
