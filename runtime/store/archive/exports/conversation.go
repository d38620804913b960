package exports

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/convtools/convtools/runtime/store/archive"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/jsontext"
)

// header is the members of a conversation in the exports of ChatGPT and Claude.ai, and of an agent in those
// of Letta. All messages of an agent are one conversation.
type header struct {
	Conversation string       `json:"conversation_id"`
	UUID         string       `json:"uuid"`
	ID           string       `json:"id"`
	Title        string       `json:"title"`
	Name         string       `json:"name"`
	CreateTime   moment       `json:"create_time"`
	CreatedAt    moment       `json:"created_at"`
	UpdateTime   moment       `json:"update_time"`
	UpdatedAt    moment       `json:"updated_at"`
	Archived     bool         `json:"is_archived"`
	CurrentNode  string       `json:"current_node"`
	CurrentLeaf  string       `json:"current_leaf_message_uuid"`
	Mapping      jsontext.Raw `json:"mapping"`
	ChatMessages jsontext.Raw `json:"chat_messages"`
	Messages     jsontext.Raw `json:"messages"`
	// Of a file of Letta, which can have several agents.
	Agents jsontext.Raw `json:"agents"`
	Blocks jsontext.Raw `json:"blocks"`
	Tools  jsontext.Raw `json:"tools"`
	Groups jsontext.Raw `json:"groups"`
}

// read returns the conversation with a header in a kind of export. If the conversation has no id, or if its nodes
// cannot be read, read returns an error, and the conversation without messages.
func (h *header) read(kind string) (*archive.Conversation, error) {
	c := &archive.Conversation{
		Kind: kind, Native: cmp.Or(h.Conversation, h.UUID, h.ID), Title: cmp.Or(h.Title, h.Name), Archived: h.Archived,
		Created: cmp.Or(h.CreateTime, h.CreatedAt).Time, Updated: cmp.Or(h.UpdateTime, h.UpdatedAt).Time,
	}
	if c.Native == "" {
		return c, errors.New("it has no id")
	}
	nodes, err := h.nodes(kind) // there are none after an error
	decode := map[string]func(jsontext.Raw) messages{ChatGPT: chatGPT, Claude: claude, Letta: letta}[kind]
	for _, n := range order(nodes, cmp.Or(h.CurrentNode, h.CurrentLeaf)) {
		for _, m := range decode(n.Message) {
			m.Native, m.Time, m.Active = cmp.Or(m.Native, n.native), n.time, n.active
			c.Messages = append(c.Messages, m)
		}
	}
	return c, err
}

// node is a node of the tree of messages: a user who edits one, or has the program answer again, begins a branch.
type node struct {
	id      string
	native  string       // its id in the export
	Parent  string       `json:"parent"`
	Message jsontext.Raw `json:"message"`
	time    time.Time

	active   bool // it is on the path to the current node
	children []*node
	ordered  bool
}

// nodes returns the nodes of a conversation. The error says that the member for the nodes is no object, or no array.
func (h *header) nodes(kind string) ([]*node, error) {
	switch kind {
	case ChatGPT:
		return mappedNodes(h.Mapping)
	case Claude:
		return messageNodes(kind, h.ChatMessages)
	}
	return messageNodes(kind, h.Messages)
}

// mappedNodes returns the nodes in an object that has nodes by their ids, as in exports of ChatGPT.
func mappedNodes(mapping jsontext.Raw) (nodes []*node, err error) {
	if !bytes.HasPrefix(mapping, []byte("{")) {
		return nil, errors.New("its mapping is no object of nodes")
	}
	for m := range jsontext.Members(mapping) {
		n := &node{id: string(jsontext.Unescape(m.Key))}
		var message struct {
			Created moment `json:"create_time"`
		}
		jsontext.Decode(m.Value, n)
		jsontext.Decode(n.Message, &message)
		n.time = message.Created.Time
		nodes = append(nodes, n)
	}
	return nodes, nil
}

// messageNodes returns a node for each message in an array, as in exports of Claude.ai and of Letta. A message that
// names no parent answers the message before it.
func messageNodes(kind string, list jsontext.Raw) (nodes []*node, err error) {
	if !bytes.HasPrefix(list, []byte("[")) {
		return nil, errors.New("its messages are no array")
	}
	before := "" // the id of the message before
	for element := range jsontext.Elements(list) {
		var m struct {
			UUID    string  `json:"uuid"`
			ID      string  `json:"id"`
			Parent  *string `json:"parent_message_uuid"`
			Created moment  `json:"created_at"`
		}
		jsontext.Decode(element, &m)
		n := &node{id: m.UUID, native: m.UUID, Parent: before, Message: element, time: m.Created.Time}
		if kind == Letta { // its messages are no tree
			n.id, n.native = strconv.Itoa(len(nodes)), m.ID
		} else if m.Parent != nil {
			n.Parent = *m.Parent
		}
		before = n.id
		nodes = append(nodes, n)
	}
	return nodes, nil
}

// order marks the path to the node with the id current as active or, if there is no such node, the path to the newest
// node without children. It returns the nodes in the order in which they are read: each node after its parent, and
// branch by branch. The active branch comes last, and the other branches are in the order of their times. A node whose
// parent is missing is a root.
func order(nodes []*node, current string) (ordered []*node) {
	byID := make(map[string]*node, len(nodes))
	for _, n := range slices.Backward(nodes) { // the first of several with an id counts
		byID[n.id] = n
	}
	parent := func(n *node) *node {
		if p := byID[n.Parent]; p != n {
			return p
		}
		return nil // n names itself
	}
	leaf := byID[current]
	if leaf == nil {
		leaf = newestLeaf(nodes, parent)
	}
	for n := leaf; n != nil && !n.active; n = parent(n) {
		n.active = true
	}
	nodes = slices.Clone(nodes)
	slices.SortStableFunc(nodes, func(a, b *node) int {
		return cmp.Or(history.CompareBool(a.active, b.active), a.time.Compare(b.time)) // active nodes are last
	})
	var roots []*node
	for _, n := range nodes {
		if p := parent(n); p != nil {
			p.children = append(p.children, n)
		} else {
			roots = append(roots, n)
		}
	}
	for _, from := range slices.Concat(roots, nodes) { // nodes has those that no root leads to: they are in a circle
		for stack := []*node{from}; len(stack) > 0; { // each node is followed by all nodes below it
			n := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if !n.ordered {
				n.ordered = true
				ordered = append(ordered, n)
				slices.Reverse(n.children) // the first child is taken from the stack first
				stack = append(stack, n.children...)
			}
		}
	}
	return ordered
}

// newestLeaf returns the newest node without children; of several with the same time the last, and nil for none.
func newestLeaf(nodes []*node, parent func(*node) *node) (leaf *node) {
	isParent := map[*node]bool{}
	for _, n := range nodes {
		isParent[parent(n)] = true
	}
	for _, n := range nodes {
		if !isParent[n] && (leaf == nil || !n.time.Before(leaf.time)) {
			leaf = n
		}
	}
	return leaf
}

// moment is a time in any form that [history.Moment] reads.
type moment struct{ time.Time }

// UnmarshalJSON implements [json.Unmarshaler].
func (m *moment) UnmarshalJSON(raw []byte) error {
	if text, ok := jsontext.Unquote(raw); ok {
		raw = text
	}
	m.Time = history.Moment(raw)
	return nil
}
