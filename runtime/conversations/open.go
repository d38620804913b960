package conversations

import (
	"context"
	"errors"
	"os"
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

// Options configures a [Library].
type Options struct {
	// Dir is a directory in the project, or the id of a JP workspace. Empty is the working directory. Only [Open]
	// reads it.
	Dir string
	// AllProjects opens the conversations of all projects on this machine instead of Dir's. Only [Open] reads it.
	AllProjects bool
	// Sources are the kinds of stores to open, as in [Filter.Sources]; empty is all. Only [Open] reads it.
	Sources []string
	// Getenv looks up the environment; nil means os.Getenv.
	Getenv func(string) string
	// Now is the clock for ages; nil means time.Now.
	Now func() time.Time
	// Once lists each store once for several queries of one call. Later conversations are not listed. The library has
	// to be closed.
	Once bool
	// Indexes are the indexes of the stores; nil for none.
	Indexes *Indexes
	// Progress, if not nil, is called while an index is updated, with the number of conversations of a store that are
	// done and of all. At the end, also after an error, they are equal.
	Progress func(s store.Store, done, all int)
	// HideSecrets replaces secrets in all texts and titles, and looks for nothing in them, unless the user's settings show
	// them. It is for models, and for what leaves the machine.
	HideSecrets bool
	// ProjectDatabases is that of [store.Options].
	ProjectDatabases bool
	// Store, if not nil, is read instead of all others, for Dir's project. Its conversations may be of any kind. Only
	// [Open] reads it.
	Store store.Store
}

func (o *Options) env() func(string) string {
	if o.Getenv == nil {
		return os.Getenv
	}
	return o.Getenv
}

// cache returns [store.Options.Cache].
func (o *Options) cache(set *settings) func(kind, place string) *filecache.Cache {
	return func(kind, place string) *filecache.Cache { return o.Indexes.cache(set, kind, place) }
}

// Library answers queries about the conversations of stores. It implements [Source]. It holds no open files between
// queries, except with [Options.Once].
type Library struct {
	stores   []store.Store
	place    string
	nowhere  *NoWorkspaceError // set if there is no workspace
	now      func() time.Time
	lists    *lists // nil to list anew for each query
	indexes  *Indexes
	progress func(s store.Store, done, all int)
	settings *settings
	secrets  bool // are hidden

	// Set by [Open].
	project *project.Project
	partial bool // stores of programs have only the project's conversations
}

var _ Source = (*Library)(nil)

// New returns a library of the conversations in stores.
func New(o Options, stores ...store.Store) *Library {
	l := &Library{stores: stores, now: o.Now, indexes: o.Indexes, progress: o.Progress, settings: &settings{memory: &project.Memory{}}, secrets: o.HideSecrets}
	if len(stores) > 0 {
		l.place = stores[0].Place()
	}
	if l.now == nil {
		l.now = time.Now
	}
	if o.Once {
		l.lists = &lists{}
	}
	if l.indexes == nil {
		l.indexes = &Indexes{}
	}
	return l
}

// Open returns a library of the conversations of a project, or of all: by JP in its workspaces, and by other programs
// on this machine, as the user's settings allow. If there is no workspace, a query that finds nothing else returns a
// [*NoWorkspaceError]. The error is an [*ExcludedError] for an excluded project, and a [*config.Error] for unusable
// settings.
func Open(o Options) (*Library, error) {
	set, err := readSettings(&o)
	if err != nil {
		return nil, err
	}
	all := o.AllProjects && o.Store == nil
	p := set.project(&o, all)
	if e := p.Excluded(); !all && e.By != "" {
		return nil, &ExcludedError{Dir: o.Dir, By: e.By, Remembered: e.Dir}
	}
	if set.noIndex || o.Indexes.Foreign() != "" {
		o.Indexes = nil
	}
	var stores []store.Store
	if o.Store != nil {
		stores = append(stores, o.Store)
	}
	var nowhere *NoWorkspaceError
	for _, k := range kinds() {
		if o.Store != nil || len(o.Sources) > 0 && !slices.Contains(o.Sources, k.name) {
			continue
		}
		places, err := k.places(&o, set, p)
		if err != nil && !errors.As(err, &nowhere) {
			return nil, err
		}
		for _, at := range places {
			if at.store != nil {
				stores = append(stores, at.store)
			}
		}
	}
	if len(stores) == 0 && nowhere != nil && len(set.Off) == 0 {
		return nil, nowhere
	}
	l := New(o, stores...)
	l.secrets = o.HideSecrets && !set.showSecrets
	if l.lists != nil {
		l.lists.forgotten = set.forgotten
	}
	l.settings, l.project, l.partial, l.nowhere, l.place = set, p, !all && o.Store == nil, nowhere, ""
	if roots := p.Roots(); len(roots) > 0 {
		l.place = roots[0]
	}
	if len(stores) > 0 && !all {
		if w, ok := stores[0].(*jp.Workspace); ok {
			l.place = w.Root()
		}
	}
	return l, nil
}

// placed is a place of a store.
type placed struct {
	place string
	store store.Store // nil if there is none
	named bool        // the user named it
}

// places returns the places of stores of a kind: homes in the environment, and homes in the user's settings; for JP
// its workspaces. It leaves out homes in the environment without a store, except that the usual one is returned if
// there is no store at all.
func (k *kind) places(o *Options, set *settings, p *project.Project) ([]placed, error) {
	if slices.Contains(set.Off, k.name) {
		return nil, nil
	}
	if k.open == nil {
		return workspaces(o, set, p)
	}
	usual := k.homes(o.env())
	usual = append(usual[:1], slices.DeleteFunc(usual[1:], func(home string) bool { return home == "" })...)
	homes := append([]string{""}, usual[1:]...)
	var places []placed
	for _, dir := range set.Directories[k.name] {
		if !slices.Contains(usual, dir) && !slices.Contains(homes, dir) {
			homes = append(homes, dir)
		}
	}
	for i, home := range homes {
		at := placed{place: home, named: i >= len(usual)}
		if s, ok := k.open(store.Options{Home: home, Project: p, Getenv: o.Getenv, Cache: o.cache(set), ProjectDatabases: o.ProjectDatabases}); ok {
			at.store, at.place = s, s.Place()
		}
		if at.store != nil || at.named {
			places = append(places, at)
		}
	}
	if len(places) == 0 {
		places = append(places, placed{place: usual[0]})
	}
	if !k.archive {
		if s, ok := copies.Open(store.Options{Project: p, Getenv: o.Getenv, Cache: o.cache(set)}, k.name, k.parseID); ok {
			places = append(places, placed{place: s.Place(), store: s})
		}
	}
	return places, nil
}

// workspaces returns the workspace of a project; for all projects, those that JP knows and those in the user's
// settings.
func workspaces(o *Options, set *settings, p *project.Project) ([]placed, error) {
	in := jp.Options{Dir: o.Dir, Getenv: o.Getenv, Cache: o.cache(set)}
	if !p.All() {
		w, err := jp.Open(in)
		if err != nil {
			return nil, err
		}
		return []placed{{place: w.Place(), store: w}}, nil
	}
	all := jp.All(in)
	for _, in.Dir = range set.Directories[jp.Name] {
		if w, err := jp.Open(in); err == nil {
			all = append(all, w)
		}
	}
	var places []placed
	seen := map[string]bool{}
	for _, w := range all {
		if p.Has(w.Root()) && !seen[w.Root()] {
			seen[w.Root()] = true
			places = append(places, placed{place: w.Place(), store: w})
		}
	}
	return places, nil
}

// shown returns a text as the library shows it: without secrets, if they are hidden.
func (l *Library) shown(text []byte) []byte {
	if l.secrets {
		return secret.Mask(text)
	}
	return text
}

// shownTitle is shown for a title.
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

// Nothing returns a [*NoWorkspaceError] for a project without a workspace and without other conversations; otherwise
// nil.
func (l *Library) Nothing(ctx context.Context) error {
	if l.nowhere == nil {
		return nil
	}
	for _, s := range l.stores {
		if !IsProgram(s.Name()) {
			continue
		}
		listing, err := s.List(ctx, everything)
		if err != nil {
			return nil
		}
		listing.Close()
		if len(listing.Conversations)+len(listing.Problems) > 0 {
			return nil
		}
	}
	return l.nowhere
}

// Origins returns the names, programs and places of the stores.
func (l *Library) Origins() (origins []StoreReport) {
	programs := map[string]string{}
	for _, k := range kinds() {
		programs[k.name] = k.program
	}
	for _, s := range l.stores {
		origins = append(origins, StoreReport{Name: s.Name(), Program: programs[s.Name()], Place: s.Place()})
	}
	return origins
}

// SearchSources returns the kinds of stores for a search over all conversations, as in [Filter.Sources], with
// archives. If the environment names databases, these are only the databases and the kinds that the user's settings
// switch on. The error is a [*config.Error].
func (o Options) SearchSources() ([]string, error) {
	set, err := readSettings(&o)
	if err != nil {
		return nil, err
	}
	names := Sources()
	named := ""
	switch {
	case chatgpt.Home(o.env()) != "":
		named = chatgpt.Name
	case postgres.URL(o.env()) != "":
		named = archive.Name
	}
	if named != "" && !slices.Contains(set.Off, named) {
		names = append(slices.DeleteFunc(set.on, func(name string) bool { return name == named }), named)
	}
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(set.Off, name) }), nil
}

// Warnings returns sentences about settings that nothing reads.
func (o Options) Warnings() []string {
	set, err := readSettings(&o)
	if err != nil {
		return nil // opening a library returns the error
	}
	return set.warnings
}

// Register adds the JP workspace of a directory to the user's settings, unless JP knows it. It returns the root of
// the workspace and the name of the changed file; empty for no change. The error is a [*NoWorkspaceError] or a
// [*config.Error].
func (o Options) Register() (root, file string, err error) {
	w, err := jp.Open(jp.Options{Dir: o.Dir, Getenv: o.Getenv})
	if err != nil {
		return "", "", err
	}
	known := jp.All(jp.Options{Dir: string(filepath.Separator), Getenv: o.Getenv})
	if slices.ContainsFunc(known, func(k *jp.Workspace) bool { return k.Root() == w.Root() }) {
		return w.Root(), "", nil
	}
	file, err = o.add(jp.Name, w.Root())
	return w.Root(), file, err
}

// RegisterDatabase adds a database of a ChatGPT export to the user's settings. It returns the name of the changed
// file; empty for no change. The error is a [*config.Error], or that of reading the database.
func (o Options) RegisterDatabase(ctx context.Context, path string) (file string, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return "", err
	}
	if s, ok := chatgpt.Open(store.Options{Home: path, Getenv: o.Getenv}); ok {
		listing, err := s.List(ctx, store.Scope{IDs: []transcript.ID{chatgpt.IDs().ID("none", "")}})
		if err != nil {
			return "", err
		}
		listing.Close()
	}
	return o.add(chatgpt.Name, path)
}

// add adds a directory to the user's settings. It returns the name of the changed file; empty for no change.
func (o Options) add(kind, dir string) (file string, err error) {
	return config.AddDirectory(o.env(), kind, dir)
}
