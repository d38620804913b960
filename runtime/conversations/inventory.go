package conversations

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/base/parallel"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/store/project"
)

// Inventory is what there is on this machine, and what is read of it.
type Inventory struct {
	// Project is the directory of the project.
	Project string
	// Excluded is the path of what excludes the project; empty where nothing does.
	Excluded string
	// Exclude are the directories that the user's settings exclude, and Missing those of them
	// that are not there, or what a pattern begins with is not.
	Exclude, Missing []string
	// Remembered are the directories that a file excludes, or did.
	Remembered []project.Exclusion
	// Unremembered is why some of them stay excluded only for as long as their file is there;
	// else nil.
	Unremembered error
	// Warnings are about settings that nothing reads, a sentence each.
	Warnings []string
	Stores   []StoreReport
}

// StoreReport is what there is in a place of a kind of store.
type StoreReport struct {
	Name    string // one of [Sources]
	Program string // as people call it
	Archive bool   // its conversations belong to no project
	// Place is a path: of JP a workspace, else what the program, or the user, names. It is
	// empty where nothing does.
	Place string
	Found bool // there is a store
	Off   bool // the user switched this kind off, and nothing was looked for

	Here          int       // conversations of the project
	Conversations int       // of all projects, those of Here included
	Projects      int       // that have conversations
	Newest        time.Time // of all projects, when the newest was last used; zero where that is not known
	// Unknown counts the records of the project's conversations that are left out: they
	// are damaged, or of no known type.
	Unknown  int
	Problems []Problem
	Remarks  []string // what the store says of itself, for people
}

// Inventory lists all conversations on this machine, and reads those of the project.
// What is excluded is not counted. The error is a [*config.Error] where the user's
// settings cannot be used, or that of a context that is done.
func (o Options) Inventory(ctx context.Context) (Inventory, error) {
	r, err := readRestrictions(&o)
	if err != nil {
		return Inventory{}, err
	}
	set := &r.set
	t := taking{options: &o, settings: set, library: New(o), all: r.project(&o, true), here: r.project(&o, false)}
	if w, err := jp.Open(jp.Options{Dir: o.Dir, Getenv: o.Getenv}); err == nil {
		t.workspace = w.Root()
	}
	inventory := Inventory{Project: t.here.Roots()[0], Excluded: t.here.Excluded().By, Exclude: set.Exclude, Missing: set.missing(), Warnings: set.warnings}
	for _, k := range kinds() {
		if slices.Contains(set.Off, k.name) {
			inventory.Stores = append(inventory.Stores, StoreReport{Name: k.name, Program: k.program, Archive: k.archive, Off: true})
			continue
		}
		for _, at := range t.places(&k) {
			if err := t.take(ctx, &at); err != nil {
				return Inventory{}, err
			}
			inventory.Stores = append(inventory.Stores, at.StoreReport)
		}
	}
	inventory.Remembered, inventory.Unremembered = r.memory.Exclusions(), r.memory.Err()
	return inventory, nil
}

// taking is an inventory in the making.
type taking struct {
	options   *Options
	settings  *settings
	library   *Library
	all, here *project.Project
	workspace string // its root; empty where there is none
}

// placed is a report in the making.
type placed struct {
	StoreReport
	store store.Store // nil where there is none
}

// places returns where stores of a kind are looked for.
func (t *taking) places(k *kind) []placed {
	var list []placed
	add := func(place string, s store.Store) *placed {
		list = append(list, placed{StoreReport{Name: k.name, Program: k.program, Archive: k.archive, Place: place, Found: s != nil}, s})
		return &list[len(list)-1]
	}
	if k.open == nil {
		for _, w := range workspaces(t.options, t.settings, t.all) {
			add(w.Place(), w)
		}
		if len(list) == 0 {
			add("", nil)
		}
	}
	for _, home := range k.homes(t.options, t.settings) {
		s, ok := k.open(store.Options{Home: home, Project: t.all, Getenv: t.options.Getenv})
		switch {
		case ok:
			add(s.Place(), s)
		case home == "":
			add(k.home(t.options.env()), nil)
		default:
			at := add(home, nil)
			at.Problems = append(at.Problems, Problem{Source: k.name, Path: home, Err: errNothing})
		}
	}
	return list
}

var errNothing = errors.New("there is nothing that the program recorded")

// take fills in what there is in a place.
func (t *taking) take(ctx context.Context, at *placed) error {
	if at.store == nil {
		return nil
	}
	listing, err := at.store.List(ctx, store.Scope{Set: store.Live | store.Archived})
	if err != nil {
		at.Problems = append(at.Problems, Problem{Source: at.Name, Path: at.Place, Err: err})
		return ctx.Err()
	}
	defer listing.Close()
	at.Remarks = listing.Remarks
	found := listing.Conversations
	for _, p := range of(at.store, listing.Problems) {
		if p.Kind != BadField && p.Kind != Duplicate {
			at.Problems = append(at.Problems, p)
		}
	}
	var here []store.Conversation
	projects := map[string]bool{}
	for _, c := range found {
		if !at.Archive {
			projects[t.all.Root(c.Dir)] = true
		}
		for _, used := range []time.Time{c.CreatedAt, c.LastActivatedAt, c.LastAt} {
			if used.After(at.Newest) {
				at.Newest = used
			}
		}
		if t.here.Has(c.Dir) || c.Dir == t.workspace && c.Source == "" {
			here = append(here, c)
		}
	}
	at.Here, at.Conversations, at.Projects = len(here), len(found), len(projects)
	return t.read(ctx, here, &at.StoreReport)
}

// read reads conversations to their end for what is wrong with them.
func (t *taking) read(ctx context.Context, list []store.Conversation, report *StoreReport) error {
	unknown := make([]int, len(list))
	damage := make([]error, len(list))
	parallel.Each(ctx, len(list), func(numbers iter.Seq[int]) {
		for i := range numbers {
			unknown[i], damage[i] = unknownRecords(ctx, &list[i])
		}
	})
	for i := range list {
		report.Unknown += unknown[i]
		if damage[i] != nil {
			report.Problems = append(report.Problems, Problem{Source: report.Name, ID: list[i].ID, Kind: DamagedEvents, Err: damage[i]})
		}
	}
	return ctx.Err()
}

// unknownRecords counts the records of a conversation that are left out. The error is why
// its events end early.
func unknownRecords(ctx context.Context, c *store.Conversation) (int, error) {
	totals, err := c.Read(ctx, nil, nil)
	var missing *NotFoundError
	if errors.As(err, &missing) {
		return 0, nil // it was deleted meanwhile
	}
	return totals.Skipped, err
}
