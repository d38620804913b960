package claudecode

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/filecache"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// metadata is what is known of a transcript from its beginning and its end.
type metadata struct {
	Main, Side        history.Session // what is said in it, and in its side chains
	HasMain, HasSide  bool
	Dir, Version      string
	Session           string // uuid
	Custom, AI        string // titles
	Description       string // of what a sub-agent was started for
	Summaries         []summary
	Said              []key
	Messages, Answers int       // that were seen, and those of the assistant of these
	Whole             bool      // all lines were
	Preamble          time.Time // of a line before the first record
	Copied            bool      // it begins with records of another session
}

// summary is a title that was made behind a record, of the same file or another one.
type summary struct {
	Behind key
	Text   string
}

// Where implements [history.Listed].
func (e *entry) Where() string { return e.Meta.Dir }

// Peek implements [history.Listed].
func (e *entry) Peek(ctx context.Context, root *history.Root) error {
	f, info, err := root.File(e.File)
	if err != nil {
		return err
	}
	defer f.Close()
	m := &e.Meta
	talk, chains := history.Talk{Agent: e.agent != "", Inquiry: inquiry}, history.Talk{Agent: true, Inquiry: inquiry}
	m.Whole, err = history.PeekLines(ctx, f, info.Size(), &talk, func(line []byte) {
		r, _ := parse(line)
		m.add(&r)
		told, _ := r.events()
		to := &talk
		if r.Sidechain && e.agent == "" {
			to = &chains
			m.HasSide = m.HasSide || r.isMessage()
		} else if m.HasMain = m.HasMain || r.isMessage(); talk.Request == "" {
			talk.Request = store.Request(r.command())
		}
		for _, x := range told {
			to.Add(x)
		}
	}, func() bool {
		// In versions before 2.0, side chains may stand anywhere.
		return m.Dir == "" || m.Messages == 0 || e.agent == "" && !m.HasSide && strings.HasPrefix(m.Version, "1.")
	})
	m.Main.See(&talk)
	m.Side.See(&chains)
	m.Main.Dir, m.Side.Dir, m.Side.Created = m.Dir, m.Dir, m.Main.Created
	if !m.Whole {
		m.Side.Last = time.Time{}
	}
	if e.About != "" {
		const most = 64 << 10
		var meta struct {
			Description string `json:"description"`
		}
		if data, err := root.ReadFile(e.About, most); err == nil && jsontext.Decode(data, &meta) {
			m.Description = meta.Description
		}
	}
	return err
}

// add adds what a record has beside what is said.
func (m *metadata) add(r *record) {
	m.Dir = cmp.Or(m.Dir, jsontext.String(r.Cwd))
	m.Version = cmp.Or(m.Version, jsontext.String(r.Version))
	m.Session = cmp.Or(m.Session, strings.ToLower(jsontext.String(r.Session)))
	if r.isMessage() {
		m.Messages++
	}
	switch r.Type {
	case "assistant":
		m.Answers++
	case "custom-title":
		m.Custom = cmp.Or(jsontext.String(r.CustomTitle), m.Custom)
	case "ai-title":
		m.AI = cmp.Or(jsontext.String(r.AITitle), m.AI)
	case "summary":
		m.Summaries = append(m.Summaries, summary{r.Leaf, jsontext.String(r.Summary)})
	}
	if r.Key != 0 {
		m.Said = append(m.Said, r.Key)
		m.see(r)
	} else if m.Main.Created.IsZero() && m.Preamble.IsZero() {
		m.Preamble = r.At
	}
}

// see notes when a record was made. What the program notes before it copies has a later time than
// what it copies.
func (m *metadata) see(r *record) {
	const slack = time.Second // between a note and the prompt that it is about
	created := &m.Main.Created
	if r.At.IsZero() {
		return
	}
	m.Copied = m.Copied || r.Forked != nil && string(r.Forked) != "null" || created.IsZero() && m.Preamble.After(r.At.Add(slack))
	if created.IsZero() || r.At.Before(*created) {
		*created = r.At
	}
}

// title returns the title of a session, or "". summaries are those that all files of its
// folder have, by the record behind which they were made.
func (m *metadata) title(summaries map[key]string) string {
	last := ""
	for _, k := range m.Said {
		if summary := summaries[k]; !failedSummary(summary) {
			last = summary
		}
	}
	return cmp.Or(m.Custom, m.AI, last)
}

// failedSummary reports whether a summary is the error that making it ended with.
func failedSummary(s string) bool {
	return s == "" || strings.HasPrefix(s, "API Error") || strings.HasPrefix(s, "Invalid API key")
}

// isWarmUp reports whether it is of a sub-agent with one answer to no question, which the program
// starts only to warm up.
func (m *metadata) isWarmUp() bool { return m.Whole && m.Messages == 1 && m.Answers == 1 }

// relation is what a session is to others of its family: those that have records in common, as one
// was forked from the other, or continued by versions before 2.0.
type relation struct {
	Hidden bool          // another one has all of its records
	From   transcript.ID // the one that it is a fork of: of which it has the most records
	Others []string      // files of those that have some of its records too, and tell them instead
}

// resolveCopies finds out what sessions are to each other.
func resolveCopies(ctx context.Context, root *history.Root, all []*entry) error {
	for _, family := range families(all) {
		name, stamps := "family", []filecache.Stamp{}
		for _, e := range family {
			name += "\x00" + e.File
			stamps = append(stamps, e.Stamp)
		}
		relations := map[string]relation{} // by file
		sheet := root.Sheet(name, stamps...)
		if !sheet.Get(&relations) && relate(ctx, root, family, relations) {
			sheet.Put(relations)
		}
		for _, e := range family {
			e.relation = relations[e.File]
		}
	}
	return ctx.Err()
}

// families returns the groups of two sessions and more that have a record in common
// near their beginning or their end, each in the order of all.
func families(all []*entry) (found [][]*entry) {
	before := map[*entry]*entry{} // another one of the family
	first := func(e *entry) *entry {
		for before[e] != nil {
			e = before[e]
		}
		return e
	}
	holder := map[key]*entry{}
	for _, e := range all {
		for _, k := range e.Meta.Said {
			if other := holder[k]; other != nil && first(other) != first(e) {
				before[first(e)] = first(other)
			}
			if e.agent == "" {
				holder[k] = e
			}
		}
	}
	members := map[*entry][]*entry{}
	for _, e := range all {
		if e.agent == "" {
			members[first(e)] = append(members[first(e)], e)
		}
	}
	for _, family := range members {
		if len(family) > 1 {
			found = append(found, family)
		}
	}
	return found
}

// relative is a member of a family.
type relative struct {
	*entry
	said map[key]time.Time
	own  time.Time // when the first record was written that only it has
}

// common returns how many records two members have in common.
func (r *relative) common(other *relative) (n int) {
	for k := range r.said {
		if _, ok := other.said[k]; ok {
			n++
		}
	}
	return n
}

// relate finds out what the members of a family are to each other. All of their files are read. It
// reports whether all of them could be.
func relate(ctx context.Context, root *history.Root, family []*entry, relations map[string]relation) (whole bool) {
	holders := map[key]int{}
	var members, shown []*relative
	for _, e := range family {
		said, err := keysOf(ctx, root, e.File)
		if err != nil {
			continue // it is not compared; reading it will say why
		}
		for k := range said {
			holders[k]++
		}
		members = append(members, &relative{entry: e, said: said})
	}
	// Of those with the same records the first one counts.
	slices.SortStableFunc(members, func(a, b *relative) int { return cmp.Compare(len(b.said), len(a.said)) })
	for _, r := range members {
		for k, at := range r.said {
			if holders[k] == 1 && (r.own.IsZero() || at.Before(r.own)) {
				r.own = at
			}
		}
		if slices.ContainsFunc(shown, func(other *relative) bool { return r.common(other) == len(r.said) }) {
			relations[r.File] = relation{Hidden: true}
		} else {
			shown = append(shown, r)
		}
	}
	slices.SortStableFunc(shown, func(a, b *relative) int {
		return cmp.Or(history.CompareBool(a.Meta.Copied, b.Meta.Copied), a.own.Compare(b.own), a.ID.Compare(b.ID))
	})
	for i, r := range shown {
		var is relation
		most := 0
		for _, earlier := range shown[:i] {
			is.Others = append(is.Others, earlier.File)
			if n := r.common(earlier); n > most {
				is.From, most = earlier.ID, n
			}
		}
		relations[r.File] = is
	}
	return len(members) == len(family)
}

// copied returns the records that the copies have too.
func (c *conversation) copied(ctx context.Context) (copied map[key]bool, err error) {
	if len(c.copies) == 0 {
		return nil, nil
	}
	root, err := c.Store.Open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	copied = map[key]bool{}
	for _, file := range c.copies {
		said, err := keysOf(ctx, root, file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // then what it has is told here
			return nil, err
		}
		for k := range said {
			copied[k] = true
		}
	}
	return copied, nil
}

// keysOf returns the records of what is said in a file, with their times.
func keysOf(ctx context.Context, root *history.Root, file string) (map[key]time.Time, error) {
	f, info, err := root.File(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	said := map[key]time.Time{}
	err = jsonl.Each(ctx, f, 0, info.Size(), func(line []byte, _, _ int64) bool {
		if r, _ := parse(line); r.isMessage() && r.Key != 0 {
			said[r.Key] = r.At
		}
		return true
	})
	return said, err
}
