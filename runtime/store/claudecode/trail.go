package claudecode

import (
	"bytes"
	"slices"

	"github.com/convtools/convtools/runtime/store/facts"
)

// trail is the tree of a transcript, as far as it is needed to find out whether what is appended leaves alone
// what is there: the records stay in their order, and none of them is of a branch that is
// abandoned. There are no two prompts behind the same message then.
type trail struct {
	keys map[shortKey]bool
	tip  shortKey // of the last record; zero where it has none
	free bool     // nothing that a person said is behind the message at the tip, or before it
}

// shortKey stands for a key in half the room.
type shortKey [8]byte

func (k key) short() (s shortKey) {
	for i, b := range k {
		s[i%len(s)] ^= b
	}
	return s
}

// add adds a record, and reports whether it leaves alone what is there.
func (p *trail) add(n *node) bool {
	var none key
	own, parent := n.key.short(), n.parentKey.short()
	isRoot := n.parentKey == none
	if n.key != none && p.keys[own] || !isRoot && !p.keys[parent] {
		return false // a copy, or of an order that is not that of the file
	}
	onTip := !isRoot && parent == p.tip
	switch {
	case isRoot:
		p.free = true
	case n.flags&prompt != 0 && n.flags&side == 0 && !(onTip && p.free):
		return false
	default:
		p.free = n.flags&message != 0 || onTip && p.free
	}
	p.tip = shortKey{}
	if n.key != none {
		p.tip = own
		if p.keys == nil {
			p.keys = map[shortKey]bool{}
		}
		p.keys[own] = true
	}
	return true
}

// walk walks it.
func (p *trail) walk(c *facts.Coder) {
	var keys []shortKey
	for k := range p.keys {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b shortKey) int { return bytes.Compare(a[:], b[:]) })
	p.keys = make(map[shortKey]bool, len(keys))
	facts.List(c, &keys, func(k *shortKey) {
		c.Fixed(k[:])
		p.keys[*k] = true
	})
	c.Fixed(p.tip[:])
	c.Bool(&p.free)
}
