package conversations

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/index"
	"github.com/convtools/convtools/runtime/index/terms"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/filecache"
	"github.com/convtools/convtools/runtime/transcript"
)

// Indexes are the indexes of stores, for all libraries that share them. An index is only
// ever a shortcut: what it has is used where the store has not changed since, and all else
// is read. They are safe for concurrent use.
type Indexes struct {
	dir string // empty where all are in memory

	mu       sync.Mutex
	language terms.Language
	open     map[string]*index.Index // by name of their directory
	mark     string                  // of what is excluded
	shelf    *filecache.Shelf        // for that; nil until it is asked for
}

// indexFormat is the number of what an index has that this package puts there.
const indexFormat = 11

// NewIndexes returns the indexes in a directory, which need not be there.
func NewIndexes(dir string) *Indexes {
	return &Indexes{dir: filepath.Join(dir, fmt.Sprint("v", indexFormat)), open: map[string]*index.Index{}}
}

// OpenIndexes returns the indexes that the user's cache directory has, or will have; nil
// where the environment does not tell which that is.
func OpenIndexes(getenv func(string) string) *Indexes {
	dir := config.CacheDir(getenv)
	if dir == "" {
		return nil
	}
	return NewIndexes(filepath.Join(dir, "index"))
}

// of returns the index of a store; nil where there are none.
func (x *Indexes) of(s store.Store) *index.Index {
	if x == nil {
		return nil
	}
	return x.at(indexName(s.Name(), s.Place()))
}

// indexName is the name of the directory of the index of a store, of a kind and at a place.
func indexName(kind, place string) string {
	sum := sha256.Sum256([]byte(kind + "\x00" + place))
	return kind + "-" + hex.EncodeToString(sum[:8])
}

// at returns the index in a directory.
func (x *Indexes) at(name string) *index.Index {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.open[name] == nil {
		x.open[name] = index.Open(filepath.Join(x.dir, name))
		if x.dir == "" {
			x.open[name] = index.InMemory()
		}
		x.open[name].Language = x.language
	}
	return x.open[name]
}

// inMemory makes the index of a store one in memory, where it cannot be written in its directory, and returns
// it. failed is the index that cannot: where somebody has put another one in its place, that stays.
func (x *Indexes) inMemory(s store.Store, failed *index.Index) *index.Index {
	x.mu.Lock()
	defer x.mu.Unlock()
	name := indexName(s.Name(), s.Place())
	if x.open[name] == failed {
		x.open[name] = index.InMemory()
		x.open[name].Language = x.language
	}
	return x.open[name]
}

// setLanguage sets the language that words are read in. Indexes of another one are made anew.
func (x *Indexes) setLanguage(l terms.Language) {
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if l == x.language {
		return
	}
	x.language = l
	clear(x.open)
}

// files returns what is known of the files of stores: what their indexes have, if it was not kept under
// another mark, and what is found out. It is nil where there are no indexes.
func (x *Indexes) files() *filecache.Shelf {
	if x == nil {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.shelf == nil {
		mark := x.mark
		x.shelf = filecache.New(func(kind, place string) []byte {
			view, err := x.at(indexName(kind, place)).View()
			if err != nil {
				return nil
			}
			kept, ok := bytes.CutPrefix(view.Kept(), keptUnder(mark))
			if !ok {
				return nil
			}
			return kept
		})
	}
	return x.shelf
}

// keptUnder begins what an index keeps of files, under a mark.
func keptUnder(mark string) []byte { return []byte(mark + "\n") }

// exclude sets the mark of what is excluded. What is known of files has titles, and does not
// tell whose: that of another mark is neither used nor kept.
func (x *Indexes) exclude(mark string) {
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if mark != x.mark {
		x.mark, x.shelf = mark, nil
	}
}

// Foreign returns the directory of these in the user's cache that belongs to another user; empty
// for none. Where there is one, nothing is read and nothing kept: whose it is could have put there
// what nobody has said.
func (x *Indexes) Foreign() string {
	if x == nil {
		return ""
	}
	all := filepath.Dir(x.dir)
	for _, dir := range []string{filepath.Dir(all), all, x.dir} {
		if safefile.OfAnother(dir) {
			return dir
		}
	}
	return ""
}

// Close forgets all indexes; their files are closed once nobody reads them.
func (x *Indexes) Close() {
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	clear(x.open)
}

// Clear removes all indexes, also those of other formats.
func (x *Indexes) Clear() error {
	if x == nil {
		return nil
	}
	x.Close()
	if x.dir == "" {
		return nil
	}
	dir, name := filepath.Split(filepath.Dir(x.dir))
	root, err := safefile.OpenDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	return root.RemoveAll(name)
}

// indexNote is what an index says of its store.
type indexNote struct {
	Store, Place string
	// Version is that of the store, all of which is indexed, without anything that would
	// have to be said of it. Empty where that is not so.
	Version string
	// Whole is the Unix time at which all of the store was listed, and this written, last.
	Whole int64 `json:",omitempty"`
	// Mark is that of what was excluded when everything that was excluded was removed last.
	Mark string `json:",omitempty"`
	// Openers are those that titles are without.
	Openers []string `json:",omitempty"`
}

// noteOf returns what an index says of its store, as far as that can be read.
func noteOf(view *index.View) (note indexNote, ok bool) {
	err := json.Unmarshal([]byte(view.State().Note), &note)
	return note, err == nil
}

// indexFacts is what an index has of a conversation beside its messages.
type indexFacts struct {
	// Read is set where everything could be read. Of others there is what could be, for rankings
	// alone, and Problem and Why are the kind and the reason of what could not.
	Read      bool
	Problem   int
	ProblemAt int // [Problem.Event]
	Why       string
	ForModel  string // the same for a model; empty where a model is told nothing of it
	BadTime   bool
	Uncounted string // why the owner of the store counts nothing; empty where it does
	LastAt    time.Time
	Events    int
	Size      Size

	// What is known without reading the events.
	NativeID  string
	Source    string
	Archived  bool
	Hidden    bool
	Parent    transcript.ID
	Dir       string
	CreatedAt time.Time
}

// count fills in what was counted by reading the events.
func (f *indexFacts) count(totals *store.Totals, size Size) {
	f.Read, f.Events, f.LastAt, f.BadTime, f.Size = true, totals.Events, totals.LastAt, totals.BadTime, size
	if f.Size.Turns = totals.Turns; totals.Uncounted != nil {
		f.Uncounted = totals.Uncounted.Error()
	}
}

// factsOf returns what is known of a conversation without reading its events.
func factsOf(c *store.Conversation) indexFacts {
	return indexFacts{
		NativeID: c.NativeID, Source: c.Source, Archived: c.Archived, Hidden: c.Hidden, Parent: c.Parent, Dir: c.Dir, CreatedAt: c.CreatedAt,
	}
}

// conversation returns what is known of the conversation of an entry.
func (f *indexFacts) conversation(c *index.Conversation) *transcript.Conversation {
	return &transcript.Conversation{
		ID: transcript.ID(c.Key), Title: c.Title, NativeID: f.NativeID, Source: f.Source, Archived: f.Archived, Hidden: f.Hidden,
		Parent: f.Parent, Dir: f.Dir, CreatedAt: f.CreatedAt,
	}
}

// indexVersion is the version that a conversation has in an index: what is recorded, and
// what a store makes of it only together with others.
func indexVersion(version string, c *store.Conversation) string {
	sum := sha256.Sum256(filecache.AppendFields(nil, []any{&version, &c.Title, (*string)(&c.Parent), &c.Order, &c.Hidden, &c.Archived}))
	return string(sum[:12])
}

// Fields implements [filecache.Fielder].
func (f *indexFacts) Fields() []any {
	s := &f.Size
	return []any{
		&f.Read, &f.Problem, &f.ProblemAt, &f.Why, &f.ForModel, &f.BadTime, &f.Uncounted, &f.LastAt, &f.Events, &s.Turns, &s.Requests, &s.Numbered, &s.Chars,
		&f.NativeID, &f.Source, &f.Archived, &f.Hidden, (*string)(&f.Parent), &f.Dir, &f.CreatedAt,
	}
}

func (f *indexFacts) encode() []byte { return filecache.AppendFields(nil, f.Fields()) }

func readFacts(c *index.Conversation) (f indexFacts) {
	if !filecache.ReadFields(c.Facts, f.Fields()) {
		return indexFacts{}
	}
	return f
}
