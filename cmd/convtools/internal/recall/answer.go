package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// element is an element of an answer.
type element struct {
	name     string
	attrs    map[string]string
	text     string // directly in it
	parent   *element
	children []*element
}

// parseAnswer reads the XML of an answer.
func parseAnswer(answer string) (*element, error) {
	d := xml.NewDecoder(strings.NewReader(answer))
	root := &element{}
	for at := root; ; {
		token, err := d.Token()
		switch {
		case errors.Is(err, io.EOF):
			if len(root.children) != 1 {
				return nil, errors.New("not one element")
			}
			return root.children[0], nil
		case err != nil:
			return nil, fmt.Errorf("reading XML: %w", err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			child := &element{name: t.Name.Local, attrs: map[string]string{}, parent: at}
			for _, a := range t.Attr {
				child.attrs[a.Name.Local] = a.Value
			}
			at.children = append(at.children, child)
			at = child
		case xml.EndElement:
			at = at.parent
		case xml.CharData:
			at.text += string(t)
		}
	}
}

// parseRefusal reads the text that a call is refused with: an element for each line,
// with what it names as in turn=3 for attributes, inside one with the conversation.
func parseRefusal(text string) *element {
	root := &element{name: "refusal", attrs: map[string]string{}}
	for line := range strings.Lines(text) {
		e := &element{name: "line", attrs: map[string]string{}, text: line, parent: root}
		for word := range strings.FieldsSeq(line) {
			if name, value, ok := strings.Cut(strings.TrimRight(word, ":,;."), "="); ok {
				e.attrs[name] = value
			}
			if _, named := root.attrs["id"]; !named && strings.HasPrefix(word, "jp-c") {
				root.attrs["id"] = word
			}
		}
		root.children = append(root.children, e)
	}
	return root
}

// all calls yield with the element and those in it, in order.
func (e *element) all(yield func(*element) bool) bool {
	if !yield(e) {
		return false
	}
	for _, c := range e.children {
		if !c.all(yield) {
			return false
		}
	}
	return true
}

// attr returns an attribute of the element, or of the closest one around it that
// has it.
func (e *element) attr(name string) (string, bool) {
	for ; e != nil; e = e.parent {
		if value, ok := e.attrs[name]; ok {
			return value, true
		}
	}
	return "", false
}

// find returns the first element whose text contains some text. How white space
// is broken into lines does not matter.
func (e *element) find(text string) *element {
	var found *element
	e.all(func(e *element) bool {
		if len(e.children) == 0 && strings.Contains(spaced(e.text), spaced(text)) {
			found = e
		}
		return found == nil
	})
	return found
}

// shows reports whether the element has the sentence, as said in its conversation.
func (e *element) shows(s sentence) bool {
	shown := false
	e.all(func(e *element) bool {
		if len(e.children) == 0 && e.name != "note" && strings.Contains(spaced(e.text), spaced(s.Says)) {
			id, _ := e.attr("id")
			shown = id == s.In
		}
		return !shown
	})
	return shown
}

// showsNothing reports whether the answer is one of conversation_grep which says
// that nothing matches, and in how many conversations.
func (e *element) showsNothing() bool {
	searched, err := strconv.Atoi(e.attrs["searched"])
	if err != nil || e.name != "conversation_grep" || e.attrs["matches"] != "0" {
		return false
	}
	said := false
	return e.all(func(c *element) bool {
		said = said || c.name == "note" && counts(c.text, searched)
		return c.name != "event" && c.name != "hit"
	}) && said
}

// counts reports whether a text has a number, or two that follow each other and
// together make it, as in "7 live and 1 archived".
func counts(text string, number int) bool {
	before := 0
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r < '0' || r > '9' }) {
		n, err := strconv.Atoi(word)
		if err == nil && (n == number || before+n == number) {
			return true
		}
		before = n
	}
	return false
}

// spaced joins the words of a text by single spaces.
func spaced(s string) string { return strings.Join(strings.Fields(s), " ") }

// form returns the arguments of a call, as one would write them who has seen the
// answers. Where they do not show what it takes, it fails.
func (c call) form(seen []*element) (map[string]any, error) {
	var at *element
	if c.At != "" {
		for i := len(seen) - 1; i >= 0 && at == nil; i-- {
			at = seen[i].find(c.At)
		}
		if at == nil {
			return nil, fmt.Errorf("no answer shows %q", c.At)
		}
	}
	_, arguments := c.tool()
	formed := make(map[string]any, len(arguments))
	for name, value := range arguments {
		var err error
		if formed[name], err = resolve(value, at); err != nil {
			return nil, fmt.Errorf("argument %s: %w", name, err)
		}
	}
	return formed, nil
}

// resolve returns the value of an argument: what $name stands for, also in a list.
func resolve(value any, at *element) (any, error) {
	switch v := value.(type) {
	case []any:
		list := make([]any, len(v))
		for i := range v {
			var err error
			if list[i], err = resolve(v[i], at); err != nil {
				return nil, err
			}
		}
		return list, nil
	case string:
		name, isReference := strings.CutPrefix(v, "$")
		if !isReference {
			return v, nil
		}
		found, ok := at.attr(name)
		if !ok {
			return nil, fmt.Errorf("there is no %s where it points", name)
		}
		if n, err := strconv.Atoi(found); err == nil {
			return n, nil
		}
		return found, nil
	}
	return value, nil
}
