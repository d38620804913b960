package conversations

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/base/secret"
	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/archive"
	"github.com/convtools/convtools/runtime/store/chatgpt"
	"github.com/convtools/convtools/runtime/store/copies"
	"github.com/convtools/convtools/runtime/store/filecache"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/store/postgres"
	"github.com/convtools/convtools/runtime/store/project"
	"github.com/convtools/convtools/runtime/transcript"
)

// Options configures a [Library]. [New] reads only Now, Once, Indexes, Progress and HideSecrets.
type Options struct {
	Dir         string   // a directory in the project, or the id of a JP workspace. Empty is the working directory
	AllProjects bool     // opens the conversations of all projects on this machine instead of Dir's
	Sources     []string // the kinds of stores to open, as in [Filter.Sources]; empty is all
	// Getenv looks up the environment; nil means os.Getenv.
	Getenv func(string) string
	// Now is the clock for ages; nil means time.Now.
	Now func() time.Time
	// Once lists each store once for several queries of one call. Later conversations are not listed. The library has
	// to be closed.
	Once    bool
	Indexes *Indexes // the indexes of the stores; nil for none
	// Progress, if not nil, is called while an index is updated, with the number of conversations of a store that are
	// done and of all. At the end, also after an error, they are equal.
	Progress func(s store.Store, done, all int)
	// HideSecrets replaces secrets in all texts and titles, and looks for nothing in them, unless the user's settings show
	// them. It is for models, and for what leaves the machine.
	HideSecrets      bool
	ProjectDatabases bool // that of [store.Options]
	// Store, if not nil, is read instead of all others, for Dir's project. Its conversations may be of any kind.
	Store store.Store
}

func (o *Options) env() func(string) string { return (&store.Options{Getenv: o.Getenv}).Env() }

// cache returns the function for [store.Options.Cache].
func (o *Options) cache(set *settings) func(kind, place string) *filecache.Cache {
	return func(kind, place string) *filecache.Cache { return o.Indexes.cache(set, kind, place) }
}

// Library answers queries about the conversations of stores. It implements [Source]. It holds no open files between
// queries, except with [Options.Once].
type Library struct {
	stores   []store.Store
	place    string            // [Library.Place]
	nowhere  *NoWorkspaceError // set if the project has no workspace of JP
	now      func() time.Time
	lists    *lists // of all queries; nil if each query lists the stores anew
	indexes  *Indexes
	progress func(s store.Store, done, all int)
	settings *settings
	hides    bool // secrets are hidden

	// project and partial are set by [Open].
	project *project.Project
	partial bool // the library has only the project's conversations of the stores of programs
}

var _ Source = (*Library)(nil)

// New returns a library of the conversations in stores. The place of the library is that of the first store. If
// o.Indexes is nil, the library has indexes of its own, in memory.
func New(o Options, stores ...store.Store) *Library {
	l := &Library{stores: stores, now: o.Now, indexes: o.Indexes, progress: o.Progress, settings: &settings{memory: &project.Memory{}}, hides: o.HideSecrets}
	if len(stores) > 0 {
		l.place = stores[0].Place()
	}
	if l.now == nil {
		l.now = time.Now
	}
	if o.Once {
		l.lists = &lists{whole: map[listed]*store.Listing{}}
	}
	if l.indexes == nil {
		l.indexes = &Indexes{}
	}
	return l
}

// Open returns a library of the conversations of a project, or of all projects, as far as the user's settings allow. JP
// recorded them in its workspaces, and other programs elsewhere on this machine. The error is a [*config.Error] for
// unusable settings, an [*ExcludedError] for an excluded project, and a [*NoWorkspaceError] if there is no store. If
// there are stores but no workspace, a query that finds nothing returns the [*NoWorkspaceError].
func Open(o Options) (*Library, error) {
	set, err := readSettings(&o)
	if err != nil {
		return nil, err
	}
	isAll := o.AllProjects && o.Store == nil
	p := set.project(&o, isAll)
	if e := p.Excluded(); !isAll && e.By != "" {
		return nil, &ExcludedError{By: e.By, Remembered: e.Dir}
	}
	if set.noIndex || o.Indexes.Foreign() != "" {
		o.Indexes = nil
	}
	var stores []store.Store
	if o.Store != nil {
		stores = append(stores, o.Store)
	}
	var nowhere *NoWorkspaceError // if the project has no workspace of JP
	for _, k := range kinds() {
		if isAsked := o.Store == nil && (len(o.Sources) == 0 || slices.Contains(o.Sources, k.name)); !isAsked {
			continue
		}
		places, err := k.places(&o, set, p)
		if err != nil && !errors.As(err, &nowhere) { // other kinds may have conversations without a workspace
			return nil, err
		}
		for _, placed := range places {
			if placed.store != nil {
				stores = append(stores, placed.store)
			}
		}
	}
	if len(stores) == 0 && nowhere != nil && len(set.Off) == 0 { // if kinds are switched off, queries tell which
		return nil, nowhere
	}
	l := New(o, stores...)
	l.hides = o.HideSecrets && !set.showSecrets
	if l.lists != nil {
		l.lists.forgotten = set.forgotten
	}
	l.settings, l.project, l.nowhere = set, p, nowhere
	l.partial = !isAll && o.Store == nil // the stores have only the project's conversations
	l.place = ""                         // of all projects
	if roots := p.Roots(); len(roots) > 0 {
		l.place = roots[0]
	}
	if len(stores) > 0 && !isAll {
		if w, ok := stores[0].(*jp.Workspace); ok {
			l.place = w.Root()
		}
	}
	return l, nil
}

// placed is a place where a store is, or could be.
type placed struct {
	place string
	store store.Store // nil if there is none
	named bool        // the user's settings name the place
}

// places returns the places of a kind of store; none if the kind is switched off. The places of JP are its workspaces.
// Those of another kind are the homes in the environment that have a store, the homes in the user's settings, and last
// the user's copies of conversations. If no home is found, the usual home is a place without a store. The error is that
// of opening the workspace.
func (k *kind) places(o *Options, set *settings, p *project.Project) ([]placed, error) {
	if slices.Contains(set.Off, k.name) {
		return nil, nil
	}
	if k.open == nil {
		return workspaces(o, set, p)
	}
	usual := k.homes(o.env()) // the usual home first, even if it is empty
	usual = append(usual[:1], slices.DeleteFunc(usual[1:], func(home string) bool { return home == "" })...)
	homes := append([]string{""}, usual[1:]...) // as usual, but "" is for usual[0], which a store finds itself
	var places []placed
	for _, dir := range set.Directories[k.name] {
		if !slices.Contains(usual, dir) && !slices.Contains(homes, dir) {
			homes = append(homes, dir) // after those of usual, which has the same indexes
		}
	}
	for i, home := range homes {
		found := placed{place: home, named: i >= len(usual)}
		if s, ok := k.open(store.Options{Home: home, Project: p, Getenv: o.Getenv, Cache: o.cache(set), ProjectDatabases: o.ProjectDatabases}); ok {
			found.store, found.place = s, s.Place()
		}
		if found.store != nil || found.named {
			places = append(places, found)
		}
	}
	if len(places) == 0 {
		places = append(places, placed{place: usual[0]})
	}
	if !k.archive {
		if s, ok := copies.Open(store.Options{Project: p, Getenv: o.Getenv, Cache: o.cache(set)}, k.name, k.ids.ParseID); ok {
			places = append(places, placed{place: s.Place(), store: s})
		}
	}
	return places, nil
}

// workspaces returns the workspace of a project; the error is a [*NoWorkspaceError] if there is none. For all projects
// it returns the workspaces that JP knows and those in the user's settings, each once and without excluded ones.
func workspaces(o *Options, set *settings, p *project.Project) ([]placed, error) {
	options := jp.Options{Dir: o.Dir, Getenv: o.Getenv, Cache: o.cache(set)}
	if !p.All() {
		w, err := jp.Open(options)
		if err != nil {
			return nil, err
		}
		return []placed{{place: w.Place(), store: w}}, nil
	}
	known := jp.All(options)
	for _, options.Dir = range set.Directories[jp.Name] {
		if w, err := jp.Open(options); err == nil {
			known = append(known, w)
		}
	}
	var places []placed
	seen := map[string]bool{}
	for _, w := range known {
		if p.Has(w.Root()) && !seen[w.Root()] {
			seen[w.Root()] = true
			places = append(places, placed{place: w.Place(), store: w})
		}
	}
	return places, nil
}

// shown returns a text as the library shows it: without secrets, if they are hidden.
func (l *Library) shown(text []byte) []byte {
	if l.hides {
		return secret.Mask(text)
	}
	return text
}

// shownTitle returns a title as the library shows it.
func (l *Library) shownTitle(title string) string { return string(l.shown([]byte(title))) }

// Place returns the directory of the project, for people; empty for all projects.
func (l *Library) Place() string { return l.place }

// Warnings returns sentences about settings that nothing reads.
func (l *Library) Warnings() []string { return l.settings.warnings }

// Close closes the listings of a library with [Options.Once].
func (l *Library) Close() error {
	if l.lists != nil {
		l.lists.close()
	}
	return nil
}

// Nothing returns a [*NoWorkspaceError] if there can be no answer: the project has no workspace of JP, and each store
// of a program can be listed and has no conversations and no problems. Otherwise it returns nil.
func (l *Library) Nothing(ctx context.Context) error {
	if hasWorkspace := l.nowhere == nil; hasWorkspace {
		return nil
	}
	q, _ := l.newQuery(&Filter{}, &Omitted{}) // the empty filter selects the stores of programs
	defer q.closeLists()
	for _, s := range q.sources {
		listing, err := q.lists.all(ctx, s)
		if err != nil || len(listing.Conversations)+len(listing.Problems) > 0 {
			return nil // the store has conversations, or may have some
		}
	}
	return l.nowhere
}

// Origins returns the names, programs and places of the stores.
func (l *Library) Origins() (origins []StoreReport) {
	for _, s := range l.stores {
		origins = append(origins, StoreReport{Name: s.Name(), Program: kindNamed(s.Name()).program, Place: s.Place()})
	}
	return origins
}

// SearchSources returns the kinds of stores for a search over all conversations, as in [Filter.Sources]: all kinds,
// archives included. If the environment names a database, it returns only the kind of the database and the kinds that
// the user's settings switch on. It leaves out kinds that are switched off. The error is a [*config.Error].
func (o Options) SearchSources() ([]string, error) {
	set, err := readSettings(&o)
	if err != nil {
		return nil, err
	}
	names := Sources()
	database := "" // the kind of store that the environment names
	switch {
	case chatgpt.Home(o.env()) != "":
		database = chatgpt.Name
	case postgres.URL(o.env()) != "":
		database = archive.Name
	}
	isOff := func(name string) bool { return slices.Contains(set.Off, name) }
	if database != "" && !isOff(database) {
		names = append(slices.DeleteFunc(set.on, func(name string) bool { return name == database }), database)
	}
	return slices.DeleteFunc(names, isOff), nil
}

// Warnings returns sentences about settings that nothing reads.
func (o Options) Warnings() []string {
	set, err := readSettings(&o)
	if err != nil {
		return nil // opening a library returns the error
	}
	return set.warnings
}

// Register adds the JP workspace of a directory to the user's settings, unless JP itself knows the workspace. It returns
// the root of the workspace, and the name of the file that it changed; empty for no change. The error is a
// [*NoWorkspaceError] or a [*config.Error].
func (o Options) Register() (root, file string, err error) {
	w, err := jp.Open(jp.Options{Dir: o.Dir, Getenv: o.Getenv})
	if err != nil {
		return "", "", err
	}
	known := jp.All(jp.Options{Dir: string(filepath.Separator), Getenv: o.Getenv}) // no workspace is there: only those that JP knows
	if slices.ContainsFunc(known, func(k *jp.Workspace) bool { return k.Root() == w.Root() }) {
		return w.Root(), "", nil
	}
	file, err = config.AddDirectory(o.env(), jp.Name, w.Root())
	return w.Root(), file, err
}

// RegisterDatabase adds a database of a ChatGPT export to the user's settings. It returns the name of the changed
// file; empty for no change. The error is a [*config.Error], or that of reading the database.
func (o Options) RegisterDatabase(ctx context.Context, path string) (file string, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return "", err
	}
	if s, ok := chatgpt.Open(store.Options{Home: path, Getenv: o.Getenv}); ok {
		// Listing an id that does not exist shows whether the database can be read.
		listing, err := s.List(ctx, store.Scope{IDs: []transcript.ID{chatgpt.IDs().ID("none", "")}})
		if err != nil {
			return "", err
		}
		listing.Close()
	}
	return config.AddDirectory(o.env(), chatgpt.Name, path)
}
