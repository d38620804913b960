package conversations

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/index/terms"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/archive"
	"github.com/convtools/convtools/runtime/store/chatgpt"
	"github.com/convtools/convtools/runtime/store/claudecode"
	"github.com/convtools/convtools/runtime/store/codex"
	"github.com/convtools/convtools/runtime/store/gemini"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/store/opencode"
	"github.com/convtools/convtools/runtime/store/postgres"
	"github.com/convtools/convtools/runtime/store/project"
	"github.com/convtools/convtools/runtime/store/sessions"
	"github.com/convtools/convtools/runtime/transcript"
)

// kind is a kind of store.
type kind struct {
	name    string // [store.Store.Name]
	program string // that records the conversations, as people call it
	// home returns the directory that the program keeps everything in, or "" where the
	// environment does not tell. Of JP there is none: it keeps conversations in projects.
	home func(getenv func(string) string) string
	// open returns the store below a home, and false where there is none.
	open func(store.Options) (store.Store, bool)
	// claims reports whether a text can only be meant as an id of such a store, be it a
	// wrong one. What no other kind claims is JP's.
	claims  func(text string) bool
	parseID func(text string) (transcript.ID, error)
	// variables are those of the environment that move what the program keeps.
	variables []string
	// archive is set where the conversations belong to no project.
	archive bool
}

// kinds is the one list of kinds of stores.
func kinds() []kind {
	return []kind{
		{jp.Name, "JP", nil, nil, nil, jp.ParseID, []string{"JP_USER_DATA_DIR", "XDG_DATA_HOME"}, false},
		{claudecode.Name, "Claude Code", claudecode.Home, opens(claudecode.Open), claudecode.IDs().Claims, claudecode.IDs().ParseID, []string{"CLAUDE_CONFIG_DIR"}, false},
		{codex.Name, "Codex", codex.Home, opens(codex.Open), codex.IDs().Claims, codex.IDs().ParseID, []string{"CODEX_HOME"}, false},
		{opencode.Name, "opencode", opencode.Home, opens(opencode.Open), opencode.IDs().Claims, opencode.IDs().ParseID, []string{"OPENCODE_DB", "XDG_DATA_HOME"}, false},
		{gemini.Name, "Gemini CLI", gemini.Home, opens(gemini.Open), gemini.IDs().Claims, gemini.IDs().ParseID, []string{"GEMINI_CLI_HOME"}, false},
		{sessions.Name, "convtools", sessions.Home, opens(sessions.Open), sessions.Claims, sessions.ParseID, []string{"XDG_DATA_HOME"}, false},
		{chatgpt.Name, "ChatGPT", chatgpt.Home, opens(chatgpt.Open), chatgpt.Claims, chatgpt.ParseID, chatgpt.Variables(), true},
		{archive.Name, "imported exports", archiveHome, openArchive, archive.Claims, archive.ParseID, append([]string{"XDG_DATA_HOME"}, chatgpt.Variables()...), true},
	}
}

// opens makes a kind's open of the function of a package.
func opens[S store.Store](open func(store.Options) (S, bool)) func(store.Options) (store.Store, bool) {
	return func(o store.Options) (store.Store, bool) { return open(o) }
}

// archiveHome returns where the archive is: on the server that the environment names, or in
// the user's data directory.
func archiveHome(getenv func(string) string) string {
	return cmp.Or(postgres.Home(getenv), archive.Home(getenv))
}

func openArchive(o store.Options) (store.Store, bool) {
	if s, ok := postgres.Open(o); ok {
		return s, ok
	}
	return archive.Open(o)
}

// Sources returns the names of all kinds of stores, as [Filter.Sources] takes them.
func Sources() []string {
	var names []string
	for _, k := range kinds() {
		names = append(names, k.name)
	}
	return names
}

// isArchive reports whether the conversations of a kind of store belong to no project.
func isArchive(name string) bool {
	return slices.ContainsFunc(kinds(), func(k kind) bool { return k.name == name && k.archive })
}

// IsProgram reports whether a kind of store is of a program that records the conversations
// of a project.
func IsProgram(source string) bool { return !isArchive(source) }

// SearchSources returns the names of the kinds of stores that are asked where a question
// is about all conversations, archives too, as [Filter.Sources] takes them: all that there
// are, but where the environment names databases, only those, and what the user's settings
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

// Programs returns the programs that record the conversations of a project, as people
// call them.
func Programs() []string {
	var names []string
	for _, k := range kinds() {
		if !k.archive {
			names = append(names, k.program)
		}
	}
	return names
}

// ProgramAt returns the program whose sessions are in a directory, as people call it, or "".
func ProgramAt(dir string, getenv func(string) string) string {
	for _, k := range kinds() {
		if k.open == nil || k.archive {
			continue
		}
		if _, ok := k.open(store.Options{Home: dir, Project: project.New(project.Options{Dir: dir, All: true}), Getenv: getenv}); ok {
			return k.program
		}
	}
	return ""
}

// Variables returns the variables of the environment that conversations, and the settings
// about them, are found by, home directories aside, sorted.
func Variables() []string {
	names := []string{"XDG_CONFIG_HOME"} // of the settings
	for _, k := range kinds() {
		names = append(names, k.variables...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Warnings returns sentences about what is not read of the configuration, and disables nothing but itself.
func (o Options) Warnings() []string {
	r, err := readRestrictions(&o)
	if err != nil {
		return nil // who opens a library is told
	}
	return r.set.warnings
}

// Open returns a library of what was recorded for a project, or for all of them: by JP
// in its workspaces, and by other programs on this machine, as far as the user's settings
// let it. Where there is no workspace, a query that finds nothing else has a
// [*NoWorkspaceError]. The error is an [*ExcludedError] where the user excluded the
// project, and a [*config.Error] where the settings cannot be used.
func Open(o Options) (*Library, error) {
	if o.Store != nil {
		o.AllProjects = false
	}
	r, p, err := allowed(&o)
	if err != nil {
		return nil, err
	}
	set := &r.set
	if set.noIndex || o.Indexes.Foreign() != "" {
		o.Indexes = nil
	}
	o.Indexes.exclude(r.mark())
	o.Indexes.setLanguage(terms.Language(set.language))
	var stores []store.Store
	if o.Store != nil {
		stores = []store.Store{o.Store}
	}
	var workspace *jp.Workspace
	var nowhere *NoWorkspaceError
	switch {
	case slices.Contains(set.Off, jp.Name) || !o.opens(jp.Name):
	case o.AllProjects:
		stores = workspaces(&o, set, p)
	default:
		workspace, err = jp.Open(jp.Options{Dir: o.Dir, Getenv: o.Getenv, Cache: o.Indexes.files()})
		if err == nil {
			stores = append(stores, workspace)
		} else if !errors.As(err, &nowhere) {
			return nil, err
		}
	}
	for _, k := range kinds() {
		if !o.opens(k.name) {
			continue
		}
		for _, at := range k.homes(&o, set) {
			if s, ok := k.open(store.Options{Home: at, Project: p, Getenv: o.Getenv, Cache: o.Indexes.files(), ProjectDatabases: o.ProjectDatabases}); ok {
				stores = append(stores, s)
			}
		}
	}
	if len(stores) == 0 && nowhere != nil && len(set.Off) == 0 {
		return nil, nowhere
	}
	l := New(o, stores...)
	l.off, l.offBy, l.warnings, l.language = set.Off, set.file, set.warnings, terms.Language(set.language)
	l.indexes.setLanguage(l.language)
	l.project = !o.AllProjects && o.Store == nil
	l.restrictions, l.excludes, l.here = &r, p.Excludes, p.Has
	l.nowhere, l.place = nowhere, ""
	if roots := p.Roots(); len(roots) > 0 {
		l.place = roots[0]
	}
	if workspace != nil {
		l.place = workspace.Root()
	}
	return l, nil
}

// Allowed returns why the user's settings do not let conversations be read, as [Open] does.
func (o Options) Allowed() error {
	_, _, err := allowed(&o)
	return err
}

func allowed(o *Options) (restrictions, *project.Project, error) {
	r, err := readRestrictions(o)
	if err != nil {
		return r, nil, err
	}
	p := r.project(o, o.AllProjects)
	if !o.AllProjects {
		if e := p.Excluded(); e.By != "" {
			return r, nil, &ExcludedError{Dir: o.Dir, By: e.By, Remembered: e.Dir}
		}
	}
	return r, p, nil
}

// opens reports whether a kind of store is opened.
func (o *Options) opens(name string) bool {
	return o.Store == nil && (len(o.Sources) == 0 || slices.Contains(o.Sources, name))
}

// workspaces returns the workspaces that a project, or all of them, has: those that JP
// knows, and those that the user adds.
func workspaces(o *Options, set *settings, p *project.Project) []store.Store {
	var stores []store.Store
	seen := map[string]bool{}
	add := func(w *jp.Workspace) {
		if p.Has(w.Root()) && !seen[w.Root()] {
			seen[w.Root()] = true
			stores = append(stores, w)
		}
	}
	for _, w := range jp.All(jp.Options{Dir: o.Dir, Getenv: o.Getenv, Cache: o.Indexes.files()}) {
		add(w)
	}
	for _, dir := range set.Directories[jp.Name] {
		if w, err := jp.Open(jp.Options{Dir: dir, Getenv: o.Getenv, Cache: o.Indexes.files()}); err == nil {
			add(w)
		}
	}
	return stores
}

// Register has the JP workspace of a directory read with those of all projects, also where
// JP does not know of it. It returns the workspace's root, and the name of the file that
// it was added to; that is empty where it was known already. The error is a
// [*NoWorkspaceError] where there is none, and a [*config.Error].
func (o Options) Register() (root, file string, err error) {
	w, err := jp.Open(jp.Options{Dir: o.Dir, Getenv: o.Getenv})
	if err != nil {
		return "", "", err
	}
	for _, known := range jp.All(jp.Options{Dir: string(filepath.Separator), Getenv: o.Getenv}) {
		if known.Root() == w.Root() {
			return w.Root(), "", nil
		}
	}
	file, added, err := config.AddDirectory(o.env(), jp.Name, w.Root())
	if !added {
		file = ""
	}
	return w.Root(), file, err
}

// RegisterDatabase has a database of a ChatGPT export read wherever imported exports are. It
// returns the name of the file that it was added to, empty where it was known already. The
// error is a [*config.Error], or why the database cannot be read.
func (o Options) RegisterDatabase(ctx context.Context, path string) (file string, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return "", err
	}
	if s, ok := chatgpt.Open(store.Options{Home: path, Getenv: o.Getenv}); ok {
		listing, err := s.List(ctx, store.Scope{IDs: []transcript.ID{chatgpt.IDPrefix + "none"}})
		if err != nil {
			return "", err
		}
		listing.Close()
	}
	file, added, err := config.AddDirectory(o.env(), chatgpt.Name, path)
	if !added {
		file = ""
	}
	return file, err
}

// homes returns where stores of a kind are looked for: in the home that the environment
// names, if any, which is empty here, and in those that the user adds.
func (k *kind) homes(o *Options, set *settings) []string {
	if k.open == nil || slices.Contains(set.Off, k.name) {
		return nil
	}
	usual := k.home(o.env())
	homes := []string{""}
	for _, dir := range set.Directories[k.name] {
		if dir != usual && !slices.Contains(homes, dir) {
			homes = append(homes, dir)
		}
	}
	return homes
}

// directory returns the directory that options name, by its path or as a workspace.
func directory(o *Options) string {
	if _, err := os.Stat(o.Dir); o.Dir != "" && err != nil {
		if w, err := jp.Open(jp.Options{Dir: o.Dir, Getenv: o.Getenv}); err == nil {
			return w.Root()
		}
	}
	return o.Dir
}

// ParseID reads the id of a conversation in any spelling of any kind of store. It
// does not look whether there is such a conversation. The error is a
// [*BadIDError].
func ParseID(text string) (transcript.ID, error) {
	if k := claimant(text); k != nil {
		return k.parseID(text)
	}
	return jp.ParseID(text)
}

// SourceOf returns the name of the kind of store that an id is of; empty for JP.
func SourceOf(id transcript.ID) string {
	if k := claimant(string(id)); k != nil {
		return k.name
	}
	return ""
}

// claimant returns the kind of store that claims a text as an id, or nil.
func claimant(text string) *kind {
	for _, k := range kinds() {
		if k.claims != nil && k.claims(text) {
			return &k
		}
	}
	return nil
}

// Nothing returns the [*NoWorkspaceError] of a project that has no workspace, and no
// conversations elsewhere; nil where something is there, or may be.
func (l *Library) Nothing(ctx context.Context) error {
	if l.nowhere == nil || l.some.Load() {
		return nil
	}
	for _, s := range l.stores {
		if isArchive(s.Name()) {
			continue
		}
		listing, err := s.List(ctx, store.Scope{Set: store.Live | store.Archived})
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
