package web

import (
	"context"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// related is a conversation in a tree of forks and sub-agents, with the conversations below it.
type related struct {
	Title, Address string
	IsHere         bool // it is the one that is shown
	Below          []related
}

// Limits of a tree that is shown.
const (
	maxRelated = 200
	maxDepth   = 16
)

// relatedTo returns the tree of forks and sub-agents that a conversation belongs to, below the conversation's first
// ancestor. It returns nil if the conversation has no relatives.
func relatedTo(ctx context.Context, library *conversations.Library, id transcript.ID) ([]related, error) {
	f := conversations.Filter{Both: true, Hidden: true}
	if source := conversations.SourceOf(id); source != "" {
		f.Sources = []string{source}
	}
	listing, err := library.List(ctx, conversations.ListQuery{Filter: f, NoEvents: true, Sort: conversations.ByCreation, Ascending: true})
	if err != nil {
		return nil, err
	}
	byID, below := map[transcript.ID]*conversations.Listed{}, map[transcript.ID][]*conversations.Listed{}
	for i := range listing.Conversations {
		c := &listing.Conversations[i]
		byID[c.ID] = c
		if c.Parent != "" {
			below[c.Parent] = append(below[c.Parent], c)
		}
	}
	root := byID[id] // nil if the conversation is not in the list
	for range maxDepth {
		if root != nil && byID[root.Parent] != nil {
			root = byID[root.Parent]
		}
	}
	if root == nil || len(below[root.ID]) == 0 {
		return nil, nil
	}
	room := maxRelated // for more conversations in the tree
	var treeOf func(c *conversations.Listed, depth int) related
	treeOf = func(c *conversations.Listed, depth int) related {
		tree := related{Title: titleOf(c), Address: conversationAddress(c.ID, 0), IsHere: c.ID == id}
		for _, child := range below[c.ID] {
			if room > 0 && depth < maxDepth {
				room--
				tree.Below = append(tree.Below, treeOf(child, depth+1))
			}
		}
		return tree
	}
	return []related{treeOf(root, 0)}, nil
}
