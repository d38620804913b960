package recall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/toolset"
)

const (
	checkLimit = 30 * time.Second // of one check
	history    = "history"        // the name of the checks of what other programs recorded
)

// checking collects the results of checks.
type checking struct {
	*family
	results []toolset.Check
}

// add appends a result, and returns it to be completed before the next one is added.
func (c *checking) add(status toolset.Status, name, detail, fix string) *toolset.Check {
	c.results = append(c.results, toolset.Check{Name: name, Status: status, Detail: detail, Fix: fix})
	return &c.results[len(c.results)-1]
}

// checks returns the checks of the workspace, the program that serves conversations, the
// conversations, and what other programs recorded.
func (f *family) checks(ctx context.Context) []toolset.Check {
	c := &checking{family: f}
	hasWorkspace := c.workspace(ctx)
	isBuiltIn := f.line() == "" // no external program serves the conversations
	commandLine := c.add(toolset.OK, "command line", "built in", "")
	if !isBuiltIn {
		commandLine.Detail = fmt.Sprintf("%s (%s)", f.line(), f.setting)
	}
	if hasWorkspace {
		c.conversations(ctx, commandLine)
	}
	if isBuiltIn {
		c.histories(ctx)
		c.search()
	}
	return c.results
}

// workspace adds a check of the workspace of JP. If there is no workspace, it adds whether other programs have recorded
// conversations. It reports whether there is a workspace, which an external program for conversations runs in.
func (c *checking) workspace(ctx context.Context) bool {
	w, err := c.family.workspace(c.host.Dir)
	if err == nil {
		check := c.add(toolset.OK, "workspace", w.Root(), "")
		if w.ID() != "" {
			check.Detail += " (" + w.ID() + ")"
		}
		if remarks := w.Remarks(ctx); len(remarks) > 0 {
			c.add(toolset.Warning, "user data", strings.Join(remarks, "; "), "run jp in this directory once, or leave it: what the project has is read")
		}
		return true
	}
	const fix = "change to a project that has a .jp directory, or name one with --workspace DIR"
	noWorkspace, isNone := errors.AsType[*conversations.NoWorkspaceError](err)
	switch {
	case !isNone: // it cannot be opened
		c.add(toolset.Problem, "workspace", forPerson(err).Error(), fix)
	case noWorkspace.Missing:
		c.add(toolset.Problem, "workspace", noWorkspace.Dir+" does not exist", fix)
	case c.whyNone(ctx, c.host.Dir) == nil: // there may be conversations
		c.add(toolset.OK, "conversations", "of this project, recorded by programs below", "")
	default:
		c.add(toolset.Off, "conversations", "none of this project yet: what you do here with an assistant can be recalled from its next session on", "")
	}
	return false
}

// conversations adds a check with the number of conversations, and a problem if some are damaged or none can be listed.
// If an external program fails to list them, its own check, commandLine, becomes the problem instead.
func (c *checking) conversations(ctx context.Context, commandLine *toolset.Check) {
	isProgram := c.line() != ""
	ctx, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	library, err := c.library(c.host.Dir)
	var listing conversations.Listing
	if err == nil {
		// An external program would have to print every conversation for the values that come from events.
		listing, err = library.List(ctx, conversations.ListQuery{Filter: conversations.Filter{Both: true, Hidden: true}, NoEvents: isProgram})
	}
	switch {
	case err != nil && isProgram && library != nil: // the program failed; a nil library was not opened
		commandLine.Status, commandLine.Detail = toolset.Problem, commandLine.Detail+": "+forPerson(err).Error()
		commandLine.Fix = fmt.Sprintf("try it: %s conversation ls --format=json; correct %s, or unset it to use the built-in one", c.line(), c.setting)
		return
	case err != nil:
		c.add(toolset.Problem, "conversations", forPerson(err).Error(), "see what this says: convtools conversation ls --hidden")
		return
	}
	archived := 0
	damaged := listing.Problems
	for _, l := range listing.Conversations {
		if l.Archived {
			archived++
		}
		if l.Damage != nil {
			damaged = append(damaged, *l.Damage)
		}
	}
	c.add(toolset.OK, "conversations", fmt.Sprintf("%d live, %d archived", len(listing.Conversations)-archived, archived), "")
	if len(damaged) > 0 {
		c.add(toolset.Problem, "damaged", named(damaged), "restore them from a backup, or move them out of .jp/conversations")
	}
}

// named names the first of some problems, for people.
func named(problems []conversations.Problem) string {
	var texts []string
	for _, p := range problems {
		texts = append(texts, shown(fmt.Sprintf("%s (%v)", cmp.Or(string(p.ID), p.Path), p.Err)))
	}
	return bounded(texts, ", ", maxListed)
}

// histories adds what is wrong with settings about other programs, and what each of these has recorded.
func (c *checking) histories(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	inventory, err := conversations.Options{Dir: c.host.Dir, Getenv: c.host.Getenv, Now: c.host.Now}.Inventory(ctx)
	if err != nil {
		c.add(toolset.Problem, history, forPerson(err).Error(), "see what this says: "+c.host.Name+" stores")
		return
	}
	for _, warning := range inventory.Warnings {
		c.add(toolset.Warning, "settings", warning, "correct it, or remove it")
	}
	for _, dir := range inventory.Missing {
		c.add(toolset.Warning, history, config.Short(dir, c.host.Getenv)+" is excluded in your settings, and is not there: what was recorded there stays excluded", "see that it is spelt as you mean it")
	}
	if inventory.Excluded != "" {
		c.add(toolset.Off, history, "of this project nothing is read: "+inventory.Excluded+" excludes it", "")
	}
	var sound, absent []string
	for i := range inventory.Stores {
		s := &inventory.Stores[i]
		switch deletesSome := s.Retention != 0 && s.Conversations > 0; {
		case s.Name == jp.Name: // other checks have told it
		case s.IsAbsent() && s.Archive: // this needs no result
		case s.IsAbsent():
			absent = append(absent, s.Program)
		case s.Off || s.Archive || len(s.Problems) > 0 || deletesSome:
			c.history(s)
		default:
			sound = append(sound, fmt.Sprintf("%s %d of %d", s.Program, s.Here, s.Conversations))
		}
	}
	if len(sound) > 0 {
		c.add(toolset.OK, history, "conversations of this project: "+strings.Join(sound, ", "), "")
	}
	if len(absent) > 0 {
		c.add(toolset.Off, history, "nothing is recorded by "+join(absent, "and"), "")
	}
	for _, program := range inventory.Remote {
		c.add(toolset.Off, history, program+": its sessions are on a server, where nothing can read them", "")
	}
}

// history adds the check of a program: how many conversations it recorded, what was not read, and when it deletes them.
func (c *checking) history(s *conversations.StoreReport) {
	if s.Off {
		c.add(toolset.Off, history, s.Program+": switched off in your settings", "")
		return
	}
	count := text.Count(s.Conversations, "conversation", "conversations")
	if !s.Archive {
		count = fmt.Sprintf("%d of %s of this project,", s.Here, count)
	}
	check := c.add(toolset.OK, history, s.Program+": "+count+" in "+s.Place, "")
	if len(s.Problems) > 0 {
		check.Detail += "; not read: " + named(s.Problems)
	}
	isFault := func(p conversations.Problem) bool { return p.Kind != store.Unnamed } // Unnamed: left out on purpose
	if slices.ContainsFunc(s.Problems, isFault) {
		check.Status, check.Fix = toolset.Warning, "make it readable, or leave it: the others are read"
	}
	if s.Retention > 0 && s.Conversations > 0 {
		check.Hint = fmt.Sprintf("%s deletes sessions after %s; %d of these %d are in your archive", s.Program,
			text.Count(s.Retention, "day", "days"), s.Kept, s.Conversations)
		if s.Kept < s.Conversations {
			check.Hint += fmt.Sprintf("; %s import %s copies them", c.host.Name, s.Name)
		}
	}
}

// search adds which stores conversation_search reads, and a warning if its indexes cannot be used. If the settings are
// unusable, it adds nothing, because the method histories adds that.
func (c *checking) search() {
	o := c.options(c.host.Dir)
	sources, err := o.SearchSources()
	if err != nil {
		return
	}
	detail := "of all projects"
	if len(sources) < len(conversations.Sources()) {
		detail += ": " + join(sources, "and")
	}
	check := c.add(toolset.OK, "search", detail, "")
	if dir := o.Indexes.Foreign(); dir != "" {
		check.Status, check.Fix = toolset.Warning, "set XDG_CACHE_HOME to a directory of your own"
		check.Detail += "; " + dir + " belongs to another user, so that all is read"
	}
}
