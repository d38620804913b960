package conversations

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/convtools/convtools/runtime/base/near"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/index/terms"
	"github.com/convtools/convtools/runtime/store/copies"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/store/project"
)

// settings are the user's settings about conversations, and remembered exclusions.
type settings struct {
	config.Stores
	file        string   // the name of the user's file in messages
	on          []string // the kinds of stores that are switched on by name
	noIndex     bool     // indexes are off
	showSecrets bool
	language    terms.Language // of words; empty if none is set
	warnings    []string       // sentences about settings that nothing reads and that restrict nothing
	memory      *project.Memory
	forgotten   copies.Forgotten // the conversations that the user has forgotten
	// exclusions is a text that changes with the exclusions; empty if there are none. It is of the time when the settings
	// were read: exclusions that are found later are not in it.
	exclusions string
}

// readSettings reads the user's settings. After an error no conversations may be read: the user may have excluded them.
// The error is a [*config.Error], that of reading which conversations are forgotten, or that of [project.OpenMemory].
func readSettings(o *Options) (*settings, error) {
	c := config.Read(directory(o), o.env())
	s := &settings{Stores: c.Stores, file: c.UserFile, language: terms.Language(c.Recall.Language)}
	s.checkNames(c)
	s.showSecrets = c.Recall.Secrets == showSecrets && c.Wrong("recall") == nil
	if err := c.Wrong("stores"); err != nil {
		return nil, err
	}
	wrong := c.Unread()
	for _, table := range []string{"index", "recall"} {
		if e, ok := errors.AsType[*config.Error](c.Wrong(table)); ok {
			wrong = append(wrong, e.Problems...)
		}
	}
	s.noIndex = c.Index.Off || c.Wrong("index") != nil
	s.warnings = config.Sentences(wrong)
	var err error
	if s.forgotten, err = copies.ReadForgotten(o.env()); err != nil {
		return nil, fmt.Errorf("reading which conversations are forgotten: %w", err)
	}
	if s.memory, err = openMemory(o); err == nil {
		s.exclusions = s.hashExclusions()
	}
	return s, err
}

// directory returns the directory of the options, or if that is the id of a JP workspace, the root of the workspace.
func directory(o *Options) string {
	if _, err := os.Stat(o.Dir); o.Dir == "" || err == nil {
		return o.Dir
	}
	if w, err := jp.Open(jp.Options{Dir: o.Dir, Getenv: o.Getenv}); err == nil {
		return w.Root()
	}
	return o.Dir
}

// openMemory opens the memory of exclusions in the user's state directory.
func openMemory(o *Options) (*project.Memory, error) {
	dir := config.StateDir(o.env())
	if dir != "" {
		dir = filepath.Join(dir, "excluded")
	}
	return project.OpenMemory(dir)
}

// checkNames adds a problem to the configuration for each unknown name in the settings, and drops an unknown language.
// s.Kinds has the settings named like a kind of store: false adds the kind to s.Off, and true adds it to s.on.
func (s *settings) checkNames(c *config.Config) {
	kinds := Sources()
	checkKind := func(kind, table string, at ...any) {
		if !slices.Contains(kinds, kind) {
			c.Judge("unknown store "+text.Quote(kind)+" in ["+table+"]", meant(kind, kinds), at...)
		}
	}
	for _, kind := range s.Off {
		checkKind(kind, "stores", "stores", "off")
	}
	for _, kind := range slices.Sorted(maps.Keys(s.Directories)) {
		checkKind(kind, "stores.directories", "stores", "directories", kind)
	}
	for _, kind := range slices.Sorted(maps.Keys(s.Kinds)) {
		switch on := s.Kinds[kind]; {
		case !slices.Contains(kinds, kind):
			c.Judge("unknown key "+text.Quote(kind)+" in [stores]", meant(kind, append([]string{"directories", "exclude", "off"}, kinds...)), "stores", kind)
		case !on:
			s.Off = append(s.Off, kind)
		case slices.Contains(s.Off, kind):
			c.Judge(kind+" is true, and in off", "remove one of them", "stores", kind)
		default:
			s.on = append(s.on, kind)
		}
	}
	if l, languages := string(s.language), terms.Languages(); l != "" && !slices.Contains(languages, l) {
		c.Judge("unknown language "+text.Quote(l), meant(l, languages), "recall", "language")
		s.language = ""
	}
	if how := c.Recall.Secrets; how != "" && how != showSecrets && how != hideSecrets {
		c.Judge("unknown value "+text.Quote(how)+" of secrets", meant(how, []string{hideSecrets, showSecrets}), "recall", "secrets")
	}
}

// The values of secrets in [recall].
const showSecrets, hideSecrets = "show", "hide"

// meant returns the hint for an unknown name: a similar known name, or all known names.
func meant(name string, known []string) string {
	if near := near.Name(name, known); near != "" {
		return "did you mean " + text.Quote(near) + "?"
	}
	return "known here: " + strings.Join(known, ", ")
}

// project returns the project of options, or all projects.
func (s *settings) project(o *Options, all bool) *project.Project {
	return project.New(project.Options{Dir: directory(o), All: all, Exclude: s.Exclude, Patterns: s.Patterns, Memory: s.memory})
}

// hashExclusions returns a hash of the exclusions in the settings and those that are remembered now; "" without any.
func (s *settings) hashExclusions() string {
	all := slices.Concat(s.Exclude, s.Patterns)
	for _, e := range s.memory.Exclusions() {
		all = append(all, e.By)
	}
	if len(all) == 0 {
		return ""
	}
	slices.Sort(all)
	return shortHash(fmt.Sprintf("%q", slices.Compact(all)))
}

// missing returns the excluded directories that do not exist, and the patterns below a directory that does not.
func (s *settings) missing() []string {
	var missing []string
	for _, dir := range s.Exclude {
		_, err := os.Stat(dir)
		if isPattern := strings.ContainsAny(dir, "*?[{"); err != nil && isPattern {
			base, _ := doublestar.SplitPattern(filepath.ToSlash(dir))
			_, err = os.Stat(filepath.FromSlash(base + "/"))
		}
		if errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, dir)
		}
	}
	return missing
}

// Include forgets that the options' directory is excluded. It returns the path of what else excludes it; empty for none.
// The error is a [*project.NotRememberedError] or a [*project.StillError] if there was nothing to forget.
func (o Options) Include() (by string, err error) {
	memory, err := openMemory(&o)
	if err != nil {
		return "", err
	}
	if err := memory.Forget(o.Dir); err != nil {
		return "", err
	}
	s, err := readSettings(&o)
	if err != nil {
		return "", err
	}
	return s.project(&o, false).Excluded().By, nil
}
