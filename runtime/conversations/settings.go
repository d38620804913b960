package conversations

import (
	"errors"
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
)

// settings is what the user says about conversations.
type settings struct {
	config.Stores
	file     string   // what the user's file is called in messages
	on       []string // the kinds of stores that the user asks for by name
	noIndex  bool     // no index is kept, and none used
	language string   // that of the stems of words; empty where none is named
	warnings []string // about what is not read and restricts nothing, a sentence each
}

// readSettings reads the settings. The error is a [*config.Error]: conversations that the user may have excluded are
// better not looked up.
func readSettings(o *Options) (settings, error) {
	c := config.Read(directory(o), o.env())
	s := settings{Stores: c.Stores, file: c.UserFile, language: c.Recall.Language}
	s.judge(c)
	if err := c.Wrong("stores"); err != nil {
		return settings{}, err
	}
	wrong := c.Unread()
	for _, table := range []string{"index", "recall"} {
		var e *config.Error
		if errors.As(c.Wrong(table), &e) {
			wrong = append(wrong, e.Problems...)
		}
	}
	s.noIndex = c.Index.Off || c.Wrong("index") != nil
	s.warnings = config.Sentences(wrong)
	return s, nil
}

// judge looks at the names of kinds of stores, and of the language.
func (s *settings) judge(c *config.Config) {
	kinds := Sources()
	known := func(kind, what string, at ...string) {
		if !slices.Contains(kinds, kind) {
			c.Judge("unknown "+what+" "+text.Quote(kind)+" in ["+strings.Join(at[:len(at)-1], ".")+"]", meant(kind, kinds), at...)
		}
	}
	for _, kind := range s.Off {
		known(kind, "store", "stores", "off")
	}
	for _, kind := range slices.Sorted(maps.Keys(s.Directories)) {
		known(kind, "store", "stores", "directories", kind)
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
	if languages := terms.Languages(); s.language != "" && !slices.Contains(languages, s.language) {
		c.Judge("unknown language "+text.Quote(s.language), meant(s.language, languages), "recall", "language")
		s.language = ""
	}
}

// meant is a hint at what may be meant with a name that is none of those that are known.
func meant(name string, known []string) string {
	if near := near.Name(name, known); near != "" {
		return "did you mean " + text.Quote(near) + "?"
	}
	return "known here: " + strings.Join(known, ", ")
}

// missing returns those directories that are excluded and not there; of a pattern, the directory that it begins with.
func (s *settings) missing() []string {
	var missing []string
	for _, dir := range s.Exclude {
		_, err := os.Stat(dir)
		if err != nil && strings.ContainsAny(dir, "*?[{") {
			base, _ := doublestar.SplitPattern(filepath.ToSlash(dir))
			_, err = os.Stat(filepath.FromSlash(base + "/"))
		}
		if errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, dir)
		}
	}
	return missing
}
