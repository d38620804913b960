package conversations

import (
	"context"
	"errors"
	"iter"
	"path/filepath"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/base/parallel"
	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/copies"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/store/project"
)

// Inventory describes the conversations on this machine.
type Inventory struct {
	Project  string // the directory of the project
	Excluded string // the path of the file or the setting that excludes the project; empty for none
	// Exclude are the directories and patterns that the user's settings exclude. Missing are those that do not exist; of a
	// pattern its first directory counts.
	Exclude, Missing []string
	Remembered       []project.Exclusion // the directories that a file excludes or has excluded
	// Unremembered is the error of remembering exclusions: some may end when their file is removed.
	Unremembered error
	Warnings     []string // sentences about settings that nothing reads
	Stores       []StoreReport
	// Remote are the programs in use here, for people, whose sessions are on a server: nothing can read them.
	Remote []string
}

// StoreReport describes a place of a kind of store.
type StoreReport struct {
	Name    string // one of [Sources]
	Program string // for people
	Archive bool   // its conversations belong to no project
	// Place is a path: a workspace of JP, or the directory of the program or in the settings; empty if none is known.
	Place string
	Found bool // there is a store
	Off   bool // the user switched this kind off, so that no store was looked for

	Here          int       // conversations of the project
	Conversations int       // of all projects, those of Here included
	Projects      int       // projects that have conversations
	Newest        time.Time // the last use of a conversation of any project; zero if not known
	// Unknown counts the records of the project's conversations that are damaged or of unknown type, and left out.
	Unknown  int
	Problems []Problem
	Remarks  []string // of the store, for people
	// Retention is the number of days after which the program deletes a session; 0 if it keeps sessions. Kept is the
	// number of the conversations that have a copy, and Copies is set for the store of the copies.
	Retention, Kept int
	Copies          bool
}

// IsAbsent reports whether nothing is recorded where the program usually records.
func (r *StoreReport) IsAbsent() bool { return !r.Found && !r.Off && len(r.Problems) == 0 }

// Inventory lists the conversations of all projects on this machine, and reads the conversations of the project of
// o.Dir. It leaves out excluded conversations. The error is a [*config.Error] for unusable settings, or that of the
// context. Other errors are problems of a store.
func (o Options) Inventory(ctx context.Context) (Inventory, error) {
	set, err := readSettings(&o)
	if err != nil {
		return Inventory{}, err
	}
	const allProjects = true
	all, here := set.project(&o, allProjects), set.project(&o, !allProjects)
	workspace, errOpen := jp.Open(jp.Options{Dir: o.Dir, Getenv: o.Getenv}) // it fails if the project has no workspace
	isHere := func(c *store.Conversation) bool {
		isJP := c.Source == ""
		return here.Has(c.Dir) || (isJP && errOpen == nil && c.Dir == workspace.Root())
	}
	inventory := Inventory{Project: here.Roots()[0], Excluded: here.Excluded().By, Exclude: set.Exclude, Missing: set.missing(), Warnings: set.warnings}
	for _, k := range kinds() {
		places, err := k.places(&o, set, all)
		if err != nil {
			return Inventory{}, err
		}
		isOff := slices.Contains(set.Off, k.name)
		if len(places) == 0 {
			places = []placed{{}} // so that the result has a report for the kind
		}
		for _, placed := range places {
			r := StoreReport{Name: k.name, Program: k.program, Archive: k.archive, Place: placed.place, Found: placed.store != nil, Off: isOff}
			_, r.Copies = placed.store.(*copies.Store)
			if r.Found && !r.Copies {
				r.Retention = retention(k.name, filepath.Dir(placed.place))
			}
			if r.Found {
				err = r.addConversations(ctx, o.env(), placed.store, all, isHere)
			} else if placed.named { // by the user's settings
				r.Problems = []Problem{{Source: k.name, Path: placed.place, Err: errors.New("there is nothing that the program recorded")}}
			}
			if err != nil {
				return Inventory{}, err
			}
			inventory.Stores = append(inventory.Stores, r)
		}
	}
	if home := config.Home(o.env()); home != "" && store.IsThere(filepath.Join(home, ".config", "amp")) {
		inventory.Remote = []string{"Amp"}
	}
	inventory.Remembered, inventory.Unremembered = set.memory.Exclusions(), set.memory.Err()
	return inventory, nil
}

// addConversations lists a store, and sets the numbers and problems of the report. It also reads the conversations of
// the project, for which isHere returns true. A store that cannot be listed is a problem. The error is that of ctx.
func (r *StoreReport) addConversations(ctx context.Context, getenv func(string) string, s store.Store, all *project.Project, isHere func(*store.Conversation) bool) error {
	listing, err := s.List(ctx, everything)
	if err != nil {
		r.Problems = []Problem{{Source: r.Name, Path: r.Place, Err: err}}
		return ctx.Err()
	}
	defer listing.Close()
	for _, p := range withSource(s, listing.Problems) {
		if p.Kind != store.BadField && p.Kind != store.Duplicate {
			r.Problems = append(r.Problems, p)
		}
	}
	var here []store.Conversation
	projects := map[string]bool{}
	for _, c := range listing.Conversations {
		if !r.Archive {
			projects[all.Root(c.Dir)] = true
		}
		for _, used := range []time.Time{c.CreatedAt, c.LastActivatedAt, c.LastAt} {
			if used.After(r.Newest) {
				r.Newest = used
			}
		}
		if isHere(&c) {
			here = append(here, c)
		}
	}
	if r.Retention > 0 {
		r.Kept = copies.Count(getenv, r.Name, listing.Conversations)
	}
	r.Remarks, r.Here, r.Conversations, r.Projects = listing.Remarks, len(here), len(listing.Conversations), len(projects)
	return r.readHere(ctx, here)
}

// readHere reads the conversations of the project to their end, and adds the number of their unknown records and the
// problems of reading them to the report. The error is that of the context.
func (r *StoreReport) readHere(ctx context.Context, list []store.Conversation) error {
	totals := make([]store.Totals, len(list))
	damage := make([]error, len(list))
	parallel.Each(ctx, len(list), func(numbers iter.Seq[int]) {
		for i := range numbers {
			totals[i], damage[i] = list[i].Read(ctx, nil)
		}
	})
	for i := range list {
		if _, isMissing := errors.AsType[*NotFoundError](damage[i]); isMissing {
			continue // it was deleted meanwhile
		}
		r.Unknown += totals[i].Skipped
		if damage[i] != nil {
			r.Problems = append(r.Problems, Problem{Source: r.Name, ID: list[i].ID, Kind: store.DamagedEvents, Err: damage[i]})
		}
	}
	return ctx.Err()
}
