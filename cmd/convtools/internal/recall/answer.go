package main

import (
	"encoding/xml"
	"maps"
	"slices"
	"strings"
)

// piece is the text of an element of an answer, with single spaces for all white space.
type piece struct {
	element string
	attrs   map[string]string // of the element and of those around it
	text    string
}

// pieces returns the elements of an answer, each before those in it, or nil if the answer is not XML.
func pieces(answer string) []piece {
	var root element
	if err := xml.Unmarshal([]byte(answer), &root); err != nil {
		return nil
	}
	return root.pieces(nil)
}

// element is an element of XML.
type element struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Text     string     `xml:",chardata"`
	Children []element  `xml:",any"`
}

// pieces returns the element and all elements in it. around has the attributes of the elements around it.
func (e element) pieces(around map[string]string) []piece {
	attrs := map[string]string{}
	maps.Copy(attrs, around)
	for _, a := range e.Attrs {
		attrs[a.Name.Local] = a.Value
	}
	list := []piece{{e.XMLName.Local, attrs, joinWords(e.Text)}}
	for _, child := range e.Children {
		list = append(list, child.pieces(attrs)...)
	}
	return list
}

// joinWords joins the words of a text with single spaces.
func joinWords(s string) string { return strings.Join(strings.Fields(s), " ") }

// shows reports whether an answer has a sentence in an element of the sentence's conversation. Notes do not count.
func shows(answer []piece, s sentence) bool {
	return slices.ContainsFunc(answer, func(p piece) bool {
		return p.element != "note" && p.attrs["id"] == s.In && strings.Contains(p.text, joinWords(s.Says))
	})
}

// showsNothing reports whether an answer of conversation_grep has a note but no match.
func showsNothing(answer []piece) bool {
	has := func(elements ...string) bool {
		return slices.ContainsFunc(answer, func(p piece) bool { return slices.Contains(elements, p.element) })
	}
	return len(answer) > 0 && answer[0].element == "conversation_grep" && answer[0].attrs["matches"] == "0" &&
		has("note") && !has("hit", "event")
}
