package claudecode

import "encoding/binary"

// trail is the tree of a transcript, as far as it is needed to find out whether what is appended leaves alone
// what is there: the records stay in their order, and none of them is of a branch that is
// abandoned. There are no two prompts behind the same message then.
type trail struct {
	Keys map[shortKey]bool
	Tip  shortKey // of the last record; zero where it has none
	Free bool     // nothing that a person said is behind the message at the tip, or before it
}

// shortKey stands for a key in half the room.
type shortKey uint64

func (k key) short() (s shortKey) {
	for _, half := range [][]byte{k[:8], k[8:]} {
		s ^= shortKey(binary.LittleEndian.Uint64(half))
	}
	return s
}

// add adds a record, and reports whether it leaves alone what is there.
func (p *trail) add(n *node) bool {
	var none key
	own, parent := n.key.short(), n.parentKey.short()
	isRoot := n.parentKey == none
	if n.key != none && p.Keys[own] || !isRoot && !p.Keys[parent] {
		return false // a copy, or of an order that is not that of the file
	}
	onTip := !isRoot && parent == p.Tip
	switch {
	case isRoot:
		p.Free = true
	case n.flags&prompt != 0 && n.flags&side == 0 && !(onTip && p.Free):
		return false
	default:
		p.Free = n.flags&message != 0 || onTip && p.Free
	}
	p.Tip = 0
	if n.key != none {
		p.Tip = own
		if p.Keys == nil {
			p.Keys = map[shortKey]bool{}
		}
		p.Keys[own] = true
	}
	return true
}
