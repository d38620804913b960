package web

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/transcript"
	"github.com/convtools/convtools/runtime/web/document"
)

// perPage is the number of conversations on a page.
const perPage = 50

// listPage is the page of all conversations, or of those that answer a question.
type listPage struct {
	frame
	Project  string // the name of the server's project
	Nothing  string // why there is nothing; empty if there is
	Days     *strip // nil for none
	Programs []choice
	Projects []choice
	Groups   []group // of conversations, by day
	Found    *answer // in place of Groups
	Total    int
	LastPage int
	Problems []string
}

// choice is a value of a filter.
type choice struct {
	Value, Label string
	Count        int
	IsChosen     bool
}

// group is the conversations of a day.
type group struct {
	Day  string
	Rows []row
}

// row is a conversation in a list.
type row struct {
	ID       transcript.ID
	Address  string
	Title    string
	Program  string
	Project  string // its name; empty if the list is of one project
	Branch   string // empty if it is not known
	Archived bool
	At       time.Time
	Facts    []string
	Below    int // number of sub-agents and forks, which are on its page
}

// list shows the conversations, or the passages that answer the query's words; with part=results the passages alone.
func (s *Server) list(w http.ResponseWriter, r *http.Request) error {
	p := &listPage{frame: s.frame(r, "Conversations")}
	library, end, err := s.begin(r, p.Query.All)
	if _, nowhere := errors.AsType[*conversations.NoWorkspaceError](err); nowhere {
		p.Nothing = "No conversation of this project is recorded."
		return s.show(w, "list.html", p)
	}
	if err != nil {
		return err
	}
	defer end()
	p.Project = filepath.Base(library.Place())
	if p.Query.Words != "" {
		p.Title = p.Query.Words
		p.Found, err = s.recall(r.Context(), library, p.Query)
		if err != nil {
			return err
		}
	}
	if r.URL.Query().Get("part") == "results" {
		return s.show(w, "results", p)
	}
	if err := s.fillList(r.Context(), library, p); err != nil {
		return err
	}
	return s.show(w, "list.html", p)
}

// fillList sets the filters, the strip of days, the problems and, if p.Found is not set, the conversations of a page.
func (s *Server) fillList(ctx context.Context, library *conversations.Library, p *listPage) error {
	filter, err := s.filter(p.Query)
	if err != nil {
		return err
	}
	listing, err := library.List(ctx, conversations.ListQuery{Filter: filter, NoEvents: true})
	if _, nowhere := errors.AsType[*conversations.NoWorkspaceError](err); nowhere {
		p.Nothing = "No conversation of this project is recorded."
		return nil
	}
	if err != nil {
		return err
	}
	all := listing.Conversations
	for _, problem := range listing.Problems {
		p.Problems = append(p.Problems, sentenceOf(&problem))
	}
	p.Programs = choices(all, p.Query.Program, programOf, func(name string) string { return name })
	if p.Query.All {
		p.Projects = choices(all, p.Query.Project, func(c *conversations.Listed) string { return c.Dir }, nameOf)
	}
	onAnyDay := slices.DeleteFunc(all, func(c conversations.Listed) bool { return !p.Query.selects(&c) })
	p.Days = stripOf(onAnyDay, p.Query) // the strip shows all days; selected has only those of the query
	if p.Found != nil {                 // passages take the place of conversations
		return nil
	}
	selected := slices.DeleteFunc(onAnyDay, func(c conversations.Listed) bool { return !p.Query.isIn(c.ActiveAt()) })
	selected, childCounts := withoutChildren(selected)
	p.Total = len(selected)
	p.LastPage = max((p.Total+perPage-1)/perPage, 1) // rounded up
	p.Query.Page = min(p.Query.Page, p.LastPage)
	shown := selected[(p.Query.Page-1)*perPage:]
	shown = shown[:min(len(shown), perPage)]
	if err := addSizes(ctx, library, shown); err != nil {
		return err
	}
	for i := range shown {
		p.addRow(&shown[i], childCounts[shown[i].ID])
	}
	return nil
}

// filter returns a filter for the live and archived conversations that changed the file of a query. If the query is
// about all projects, the filter has all sources, imported conversations too.
func (s *Server) filter(q query) (conversations.Filter, error) {
	f := conversations.Filter{Both: true, File: q.File}
	var err error
	if q.All {
		f.Sources, err = (conversations.Options{Dir: s.host.Dir, Getenv: s.host.Getenv}).SearchSources()
	}
	return f, err
}

// choices returns the values of a filter with their numbers of conversations, the most frequent value first.
func choices(all []conversations.Listed, chosen string, valueOf func(*conversations.Listed) string, label func(string) string) (list []choice) {
	counts := map[string]int{}
	for i := range all {
		counts[valueOf(&all[i])]++
	}
	delete(counts, "") // not known
	for _, value := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, choice{value, label(value), counts[value], value == chosen})
	}
	slices.SortStableFunc(list, func(a, b choice) int { return b.Count - a.Count })
	return list
}

// withoutChildren returns the conversations whose parent is not in the list, and the numbers of children by parent.
func withoutChildren(all []conversations.Listed) (rest []conversations.Listed, childCounts map[transcript.ID]int) {
	isListed := map[transcript.ID]bool{}
	for i := range all {
		isListed[all[i].ID] = true
	}
	childCounts = map[transcript.ID]int{}
	for _, c := range all {
		if isListed[c.Parent] {
			childCounts[c.Parent]++
		} else {
			rest = append(rest, c)
		}
	}
	return rest, childCounts
}

// addSizes replaces conversations by the same conversations with sizes, where the sizes are known.
func addSizes(ctx context.Context, library *conversations.Library, shown []conversations.Listed) error {
	f := conversations.Filter{Both: true, Hidden: true}
	for i := range shown {
		f.IDs = append(f.IDs, string(shown[i].ID))
	}
	if len(f.IDs) == 0 {
		return nil
	}
	listing, err := library.List(ctx, conversations.ListQuery{Filter: f, Sizes: true})
	if _, wasRemoved := errors.AsType[*conversations.NotFoundError](err); wasRemoved {
		return nil // the conversations that are left are shown without sizes
	}
	if err != nil {
		return err
	}
	byID := map[transcript.ID]conversations.Listed{}
	for _, c := range listing.Conversations {
		byID[c.ID] = c
	}
	for i, c := range shown {
		if sized, ok := byID[c.ID]; ok {
			shown[i] = sized
		}
	}
	return nil
}

// addRow adds the row of a conversation to the last group, or to a new group if the last group is of another day. below
// is the number of the conversation's forks and sub-agents.
func (p *listPage) addRow(c *conversations.Listed, below int) {
	day := cmp.Or(document.Day(c.ActiveAt()), "Day unknown")
	if len(p.Groups) == 0 || p.Groups[len(p.Groups)-1].Day != day {
		p.Groups = append(p.Groups, group{Day: day})
	}
	last := &p.Groups[len(p.Groups)-1]
	added := rowOf(c, p.Query.All)
	added.Facts, added.Below = facts(c), below
	last.Rows = append(last.Rows, added)
}

// rowOf returns the row of a conversation, without Facts and Below. Only in a list of all projects it has a Project.
func rowOf(c *conversations.Listed, all bool) row {
	const maxBranch = 60 // characters
	r := row{
		ID: c.ID, Address: conversationAddress(c.ID, 0), Title: titleOf(c), Program: programOf(c),
		Branch: text.Cut(text.Line(c.Branch), maxBranch), Archived: c.Archived, At: c.ActiveAt(),
	}
	if all { // the list is of all projects
		r.Project = nameOf(c.Dir)
	}
	return r
}

// facts returns the sizes of a conversation in words, or that it is damaged.
func facts(c *conversations.Listed) (facts []string) {
	if c.Damage != nil {
		return []string{"cannot be read whole"}
	}
	if c.Size != nil && c.Size.Requests > 0 {
		facts = append(facts, text.Count(c.Size.Requests, "request", "requests"))
	}
	if c.Size != nil {
		facts = append(facts, text.Count(c.Size.Numbered, "event", "events"), document.Size(c.Size.Chars))
	}
	return facts
}

// titleOf returns the title of a conversation as one line, or its id if it has none.
func titleOf(c *conversations.Listed) string {
	return cmp.Or(strings.TrimSpace(text.Line(c.Title)), string(c.ID))
}

// programOf returns the kind of store of a conversation.
func programOf(c *conversations.Listed) string { return cmp.Or(c.Source, jp.Name) }

// nameOf returns the base name of a project's directory; empty if the directory is not known.
func nameOf(dir string) string {
	if dir == "" {
		return ""
	}
	return text.Line(filepath.Base(dir))
}
