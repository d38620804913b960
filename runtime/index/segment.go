package index

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/bits"
	"sort"
)

// segment is a file with what has become of its conversations since it was written.
type segment struct {
	*file
	*named
}

// bitmap is a set of numbers; one behind its end is not in it.
type bitmap []byte

func (b bitmap) has(n uint32) bool { return int(n/8) < len(b) && b[n/8]>>(n%8)&1 != 0 }

func (b *bitmap) add(n uint32) {
	for int(n/8) >= len(*b) {
		*b = append(*b, 0)
	}
	(*b)[n/8] |= 1 << (n % 8)
}

func (b bitmap) count() int {
	n := 0
	for _, bytes := range b {
		n += bits.OnesCount8(bytes)
	}
	return n
}

func (s *segment) damaged() error { return &DamageError{s.name, errFormat} }

// ending returns the range that record n has among records whose ends a section has. From
// the end of one record to the begin of the next there are gap bytes.
func (s *segment) ending(section int, n uint32, gap uint64) (from, to uint64, err error) {
	if n > 0 {
		b, err := s.part(section, 8*uint64(n-1), 8*uint64(n+1))
		if err != nil {
			return 0, 0, err
		}
		return binary.LittleEndian.Uint64(b) + gap, binary.LittleEndian.Uint64(b[8:]), nil
	}
	b, err := s.part(section, 0, 8)
	if err != nil {
		return 0, 0, err
	}
	return 0, binary.LittleEndian.Uint64(b), nil
}

// record returns the record of a conversation.
func (s *segment) record(n uint32) ([]byte, error) {
	from, to, err := s.ending(secConversationEnds, n, 0)
	if err != nil {
		return nil, err
	}
	return s.part(secConversations, from, to)
}

// title returns the title of a conversation.
func (s *segment) title(n uint32) ([]byte, error) {
	from, to, err := s.ending(secTitleEnds, n, 1)
	if err != nil {
		return nil, err
	}
	return s.part(secTitles, from, to)
}

// conversation returns a conversation by its number.
func (s *segment) conversation(n uint32) (*Conversation, error) {
	record, err := s.record(n)
	if err != nil {
		return nil, err
	}
	title, err := s.title(n)
	if err != nil {
		return nil, err
	}
	c := &Conversation{Title: string(title)}
	if !c.parseRecord(record) {
		return nil, s.damaged()
	}
	return c, nil
}

// find returns the number of the conversation with a key.
func (s *segment) find(key string) (n uint32, ok bool, err error) {
	compare := func(i int) int {
		record, e := s.record(uint32(i)) //nolint:gosec // a count
		if e != nil {
			err = cmp.Or(err, e)
			return -1
		}
		r := reader{record, true}
		return compareKeys(key, string(r.bytes()))
	}
	// Conversations mostly come in the order of their keys: what is looked for while an index
	// is made is behind all that its segments have.
	if last := int(s.Conversations) - 1; last < 0 || compare(last) > 0 {
		return 0, false, err
	}
	i, found := sort.Find(int(s.Conversations), compare)
	return uint32(i), found && err == nil, err //nolint:gosec // a count
}

// listOf is where the list of a gram stands.
type listOf struct {
	gram     gram
	count    uint32
	from, to uint64
}

// eachList calls yield with the lists of the grams from first to last, until it returns
// false.
func (s *segment) eachList(first, last gram, yield func(listOf) bool) error {
	const entry = 4 + 8 + 8
	blocks, err := s.all(secListBlocks)
	if err != nil {
		return err
	}
	head := func(i int) gram { return gram(binary.LittleEndian.Uint32(blocks[i*entry:])) }
	at := max(0, sort.Search(int(s.ListBlocks), func(i int) bool { return head(i) > first })-1)
	for ; at < int(s.ListBlocks) && head(at) <= last; at++ {
		g := head(at)
		here, next := blocks[at*entry+4:], blocks[(at+1)*entry+4:]
		entries, err := s.part(secListEntries, binary.LittleEndian.Uint64(here), binary.LittleEndian.Uint64(next))
		if err != nil {
			return err
		}
		offset := binary.LittleEndian.Uint64(here[8:])
		for r := (reader{entries, true}); len(r.rest) > 0; {
			g += gram(r.number())                                         //nolint:gosec // a difference of grams
			l := listOf{gram: g, count: uint32(r.number()), from: offset} //nolint:gosec // a count
			if isBitmap(l.count, s.documents()) {
				offset += (uint64(s.documents()) + 7) / 8
			} else {
				offset += r.number()
			}
			if l.to = offset; !r.ok {
				return s.damaged()
			}
			if g > last {
				return nil
			}
			if g >= first && !yield(l) {
				return nil
			}
		}
	}
	return nil
}

// list returns the list of a gram; its count is 0 where there is none.
func (s *segment) list(g gram) (found listOf, err error) {
	err = s.eachList(g, g, func(l listOf) bool {
		found = l
		return false
	})
	return found, err
}

// documents is how many documents are in lists: messages, and behind them titles.
func (s *segment) documents() uint32 { return s.Messages + s.Conversations }

// set is a set of documents of a segment.
type set []uint64

func (s *segment) newSet() set { return make(set, (s.documents()+63)/64) }

// empty returns an empty set, in the memory of another one that nobody needs.
func (s *segment) empty(other set) set {
	n := (s.documents() + 63) / 64
	if cap(other) < int(n) {
		return s.newSet()
	}
	other = other[:n]
	clear(other)
	return other
}

func (m set) has(document uint32) bool { return m[document/64]>>(document%64)&1 != 0 }

func (m set) count() uint32 {
	n := 0
	for _, word := range m {
		n += bits.OnesCount64(word)
	}
	return uint32(n) //nolint:gosec // of documents
}

// next returns the first document of the set from one on, or most.
func (m set) next(from, most uint32) uint32 {
	for from < most {
		if word := m[from/64] >> (from % 64); word != 0 {
			return min(most, from+uint32(bits.TrailingZeros64(word))) //nolint:gosec // below 64
		}
		from = (from/64 + 1) * 64
	}
	return most
}

// fill adds the first documents.
func (m set) fill(first uint32) {
	for i := range m {
		m[i] = math.MaxUint64
	}
	m.cut(first)
}

// cut leaves of the set what is among the first documents.
func (m set) cut(first uint32) {
	at := first / 64
	if int(at) >= len(m) {
		return
	}
	m[at] &= 1<<(first%64) - 1
	clear(m[at+1:])
}

func (m set) and(other set) {
	for i := range m {
		m[i] &= other[i]
	}
}

// add adds the documents of a list to a set.
func (s *segment) add(to set, l listOf) error {
	data, err := s.part(secLists, l.from, l.to+behindLists)
	if err != nil {
		return err
	}
	if isBitmap(l.count, s.documents()) {
		data = data[:l.to-l.from]
		for len(data) >= 8 {
			to[0] |= binary.LittleEndian.Uint64(data)
			to, data = to[1:], data[8:]
		}
		for i, b := range data {
			to[0] |= uint64(b) << (8 * i)
		}
		return nil
	}
	if !addDifferences(to, data, l.count, s.documents()) {
		return s.damaged()
	}
	return nil
}

// texts reads the texts of messages.
type texts struct {
	*segment
	ends    []byte
	symbols *symbols
	message uint32 // of text; one behind all for none
	text    []byte
}

// stored returns what is stored of a message, which is valid until the next call.
func (t *texts) stored(message uint32) ([]byte, error) {
	if message == t.message && t.symbols != nil {
		return t.text, nil
	}
	codes, err := t.codes(message)
	if err != nil {
		return nil, err
	}
	t.message, t.text = message, t.symbols.decode(t.text[:0], codes)
	return t.text, nil
}

// codes returns what stands for what is stored of a message.
func (t *texts) codes(message uint32) ([]byte, error) {
	if t.symbols == nil {
		data, err := t.all(secSymbols)
		if err != nil {
			return nil, err
		}
		if t.ends, err = t.all(secEnds); err != nil {
			return nil, err
		}
		symbols, ok := parseSymbols(data)
		if !ok {
			return nil, t.damaged()
		}
		t.symbols, t.message = symbols, t.Messages
	}
	from := uint32(0)
	if message > 0 {
		from = binary.LittleEndian.Uint32(t.ends[4*(message-1):])
	}
	return t.part(secText, uint64(from), uint64(binary.LittleEndian.Uint32(t.ends[4*message:])))
}

// extra returns what is stored of a message beside its text, which is valid until the next
// call. No more than that is decoded, which mostly is little.
func (t *texts) extra(message uint32) ([]byte, error) {
	codes, err := t.codes(message)
	if err != nil {
		return nil, err
	}
	t.message = t.Messages // none of them is in text
	for n := 2; ; n *= 8 {
		t.text = t.symbols.decode(t.text[:0], codes[:min(n, len(codes))])
		extra, _, err := t.split(t.text)
		if err == nil || n >= len(codes) {
			return extra, err
		}
	}
}

// split divides what is stored of a message.
func (s *segment) split(stored []byte) (extra, text []byte, err error) {
	r := reader{stored, true}
	if extra = r.bytes(); !r.ok {
		return nil, nil, s.damaged()
	}
	return extra, r.rest, nil
}
