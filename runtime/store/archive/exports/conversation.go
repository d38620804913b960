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
	"github.com/convtools/convtools/runtime/store/internal/messagedb"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// header is what exports have of a conversation, each under its own keys: ChatGPT, Claude.ai, and
// Letta of an agent, all of whose messages are one conversation.
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

	// Of a file of Letta, which may have several agents.
	Agents jsontext.Raw `json:"agents"`
	Blocks jsontext.Raw `json:"blocks"`
	Tools  jsontext.Raw `json:"tools"`
	Groups jsontext.Raw `json:"groups"`
}

// Errors of conversations.
var (
	errNoID       = errors.New("it has no id")
	errNoMapping  = errors.New("its mapping is no object of nodes")
	errNoMessages = errors.New("its messages are no array")
)

// read reads a conversation of a kind of export.
func (h *header) read(kind string, into *archive.Conversation) error {
	*into = archive.Conversation{
		Kind: kind, Native: cmp.Or(h.Conversation, h.UUID, h.ID), Title: cmp.Or(h.Title, h.Name), Archived: h.Archived,
		Created: cmp.Or(h.CreateTime, h.CreatedAt).Time, Updated: cmp.Or(h.UpdateTime, h.UpdatedAt).Time, Messages: into.Messages[:0],
	}
	if into.Native == "" {
		return errNoID
	}
	appendTo := map[string]func(*saying, jsontext.Raw){ChatGPT: chatGPT, Claude: claude, Letta: letta}[kind]
	nodes, err := h.nodes(kind)
	if err != nil {
		return err
	}
	places, active := order(nodes, cmp.Or(h.CurrentNode, h.CurrentLeaf))
	for _, at := range places {
		n := &nodes[at]
		appendTo(&saying{to: into, from: len(into.Messages), native: n.native, time: n.time, active: active[at]}, n.Message)
	}
	return nil
}

// nodes returns the messages, and what links them.
func (h *header) nodes(kind string) (nodes []node, err error) {
	list := map[string]jsontext.Raw{ChatGPT: h.Mapping, Claude: h.ChatMessages, Letta: h.Messages}[kind]
	switch {
	case kind == ChatGPT && !bytes.HasPrefix(list, []byte("{")):
		return nil, errNoMapping
	case kind != ChatGPT && !bytes.HasPrefix(list, []byte("[")):
		return nil, errNoMessages
	}
	for m := range jsontext.Members(list) {
		if len(nodes) == maxMessages {
			return nil, errTooMany
		}
		n := node{id: string(jsontext.Unescape(m.Key))} // the one inside repeats it
		var said struct {
			Created moment `json:"create_time"`
		}
		jsontext.Decode(m.Value, &n)
		jsontext.Decode(n.Message, &said)
		n.time = said.Created.Time
		nodes = append(nodes, n)
	}
	before := "" // a message that does not name its parent answers the one before
	for element := range jsontext.Elements(list) {
		if len(nodes) == maxMessages {
			return nil, errTooMany
		}
		var m struct {
			UUID    string  `json:"uuid"`
			ID      string  `json:"id"`
			Parent  *string `json:"parent_message_uuid"`
			Created moment  `json:"created_at"`
		}
		jsontext.Decode(element, &m)
		n := node{id: m.UUID, native: m.UUID, Parent: before, Message: element, time: m.Created.Time}
		if kind == Letta { // whose messages are no tree
			n.id, n.native = strconv.Itoa(len(nodes)), m.ID
		} else if m.Parent != nil {
			n.Parent = *m.Parent
		}
		before = n.id
		nodes = append(nodes, n)
	}
	return nodes, nil
}

// saying is a message that is appended to a conversation, as one or several.
type saying struct {
	to     *archive.Conversation
	from   int // of its messages
	native string
	time   time.Time
	active bool
}

// add appends a text, if there is one. What a user says in several is one text.
func (s *saying) add(kind transcript.Kind, name string, text []byte) {
	all := s.to.Messages
	switch last := len(all) - 1; {
	case len(text) == 0:
	case last >= s.from && kind == transcript.KindUser && all[last].Kind == kind:
		all[last].Text = append(append(all[last].Text, '\n'), text...)
	default:
		s.to.Messages = append(all, archive.Message{Native: s.native, Kind: kind, Name: name, Time: s.time, Active: s.active, Text: text})
	}
}

// kindOf returns the kind of the messages of a role. Those of one that is not known have it
// as their name.
func kindOf(role string) (kind transcript.Kind, name string) {
	switch role {
	case "user", "human":
		return transcript.KindUser, ""
	case "assistant":
		return transcript.KindAssistant, ""
	case "tool":
		return transcript.KindToolResult, ""
	case "system":
		return transcript.KindSystem, ""
	case "":
		return transcript.KindSystem, "unknown"
	}
	return transcript.KindSystem, role
}

// moment is a time in any of the forms of [messagedb.Moment].
type moment struct{ time.Time }

// UnmarshalJSON implements [json.Unmarshaler].
func (m *moment) UnmarshalJSON(raw []byte) error {
	if text, ok := jsontext.Unquote(raw); ok {
		raw = text
	}
	m.Time = messagedb.Moment(raw)
	return nil
}

// node is a node of the tree that the messages of a conversation are: who edits a message
// or has an answer made again begins a branch.
type node struct {
	id      string
	native  string       // its id in the export
	Parent  string       `json:"parent"`
	Message jsontext.Raw `json:"message"`
	time    time.Time
}

// order returns the nodes in the order in which they are read, each behind its parent, and
// which of them are on the active path: the one to the node called current, or where there
// is no such node to the newest one without children. At a branching the active path comes
// last, and the others come by their times. Links that lead nowhere are not followed.
func order(nodes []node, current string) (places []int, active []bool) {
	parent := parents(nodes)
	active = make([]bool, len(nodes))
	for at := leaf(nodes, parent, current); at >= 0; at = parent[at] {
		active[at] = true
	}
	all := make([]int, len(nodes))
	for i := range all {
		all[i] = i
	}
	slices.SortStableFunc(all, func(a, b int) int {
		return cmp.Or(history.CompareBool(active[a], active[b]), nodes[a].time.Compare(nodes[b].time))
	})
	children := make([][]int, len(nodes))
	var roots []int
	for _, at := range all {
		if p := parent[at]; p >= 0 {
			children[p] = append(children[p], at)
		} else {
			roots = append(roots, at)
		}
	}
	slices.Reverse(roots)
	for stack := roots; len(stack) > 0; {
		at := stack[len(stack)-1]
		places = append(places, at)
		slices.Reverse(children[at])
		stack = append(stack[:len(stack)-1], children[at]...)
	}
	return places, active
}

// parents returns the parent of each node, -1 for none. Circles are opened.
func parents(nodes []node) []int {
	place := make(map[string]int, len(nodes))
	for i := len(nodes) - 1; i >= 0; i-- {
		place[nodes[i].id] = i
	}
	parent := make([]int, len(nodes))
	for i := range nodes {
		parent[i] = -1
		if p, ok := place[nodes[i].Parent]; ok && p != i {
			parent[i] = p
		}
	}
	seen := make([]int, len(nodes)) // by who has come by, on the way up
	for i := range nodes {
		at := i
		for at >= 0 && seen[at] == 0 {
			seen[at] = i + 1
			at = parent[at]
		}
		if at >= 0 && seen[at] == i+1 {
			parent[at] = -1
		}
	}
	return parent
}

// leaf returns the node called current, or else the newest one without children; -1 for none.
func leaf(nodes []node, parent []int, current string) int {
	leaf := slices.IndexFunc(nodes, func(n node) bool { return n.id == current })
	if leaf >= 0 {
		return leaf
	}
	isParent := map[int]bool{}
	for _, p := range parent {
		isParent[p] = true
	}
	for i := range nodes {
		if !isParent[i] && (leaf < 0 || !nodes[i].time.Before(nodes[leaf].time)) {
			leaf = i
		}
	}
	return leaf
}
