package recall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/toolset"
)

const (
	// How long a check may take. The built-in reader ends by itself; a program may not.
	builtinLimit, programLimit = 30 * time.Second, 5 * time.Second
	// namedDamaged is how many damaged conversations a check names.
	namedDamaged = 5
	// history is the name of the checks of what other programs recorded.
	history = "history"
)

// checking collects checks.
type checking struct {
	*family
	made []toolset.Check
}

func (c *checking) add(status toolset.Status, name, detail, fix string) *toolset.Check {
	c.made = append(c.made, toolset.Check{Name: name, Status: status, Detail: detail, Fix: fix})
	return &c.made[len(c.made)-1]
}

// checks checks the workspace, the program that serves conversations, the
// conversations, and what other programs recorded.
func (f *family) checks(ctx context.Context) []toolset.Check {
	c := &checking{family: f}
	hasWorkspace := c.workspace(ctx)
	line := c.add(toolset.OK, "command line", "built in", "")
	if f.line() != "" && !c.commandLine(line) {
		return c.made
	}
	if hasWorkspace {
		c.conversations(ctx, line)
	}
	if f.line() == "" {
		c.histories(ctx)
		c.search()
	}
	return c.made
}

// workspace checks the workspace of JP, and reports whether there is one: a
// program cannot be run without.
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
	missing, isMissing := errors.AsType[*conversations.NoWorkspaceError](err)
	switch {
	case !isMissing || missing.Missing:
		detail := personal(err).Error()
		if isMissing {
			detail = missing.Dir + " does not exist"
		}
		c.add(toolset.Problem, "workspace", detail, "change to a project that has a .jp directory, or name one with --workspace DIR")
	case c.nothing(ctx, c.host.Dir) == nil:
		c.add(toolset.OK, "conversations", "of this project, recorded by programs below", "")
	default:
		c.add(toolset.Off, "conversations", "none of this project yet: what you do here with an assistant can be recalled from its next session on", "")
	}
	return false
}

// commandLine checks that the program that serves conversations can be run.
func (c *checking) commandLine(check *toolset.Check) bool {
	check.Detail = fmt.Sprintf("%s (%s)", c.line(), c.setting)
	words, err := process.SplitCommand(c.line())
	if err == nil {
		_, err = exec.LookPath(words[0])
	}
	if err != nil {
		c.blame(check, err)
	}
	return err == nil
}

// blame makes a problem of the check of a program that serves no conversations.
func (c *checking) blame(check *toolset.Check, err error) {
	check.Status = toolset.Problem
	check.Detail += ": " + err.Error()
	check.Fix = fmt.Sprintf("try it: %s conversation ls --format=json; correct %s, or unset it to use the built-in one", c.line(), c.setting)
}

// conversations counts the conversations, and names the damaged ones. Where a
// program lists none, its check is the problem.
func (c *checking) conversations(ctx context.Context, line *toolset.Check) {
	isProgram, limit := c.line() != "", builtinLimit
	if isProgram {
		limit = programLimit
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	library, err := c.library(c.host.Dir)
	var listing conversations.Listing
	if err == nil {
		// A program would have to print every conversation for what only the events tell.
		listing, err = library.List(ctx, conversations.ListQuery{Filter: conversations.Filter{Both: true, Hidden: true}, NoEvents: isProgram})
	}
	switch {
	case err != nil && isProgram && library != nil:
		c.blame(line, personal(err))
		return
	case err != nil:
		c.add(toolset.Problem, "conversations", personal(err).Error(), "see what this says: convtools conversation ls --hidden")
		return
	}
	archived := 0
	damaged := listing.Aside.Problems
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
	return bounded(texts, ", ", namedDamaged)
}

// histories checks what other programs recorded.
func (c *checking) histories(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, builtinLimit)
	defer cancel()
	inventory, err := conversations.Options{Dir: c.host.Dir, Getenv: c.host.Getenv, Now: c.host.Now}.Inventory(ctx)
	if err != nil {
		c.add(toolset.Problem, history, personal(err).Error(), "see what this says: "+c.host.Name+" stores")
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
	for i := range inventory.Stores {
		if s := &inventory.Stores[i]; s.Name != jp.Name {
			c.history(s)
		}
	}
}

// history checks what one program recorded. An archive is named only where
// there is one.
func (c *checking) history(s *conversations.StoreReport) {
	isEmpty := !s.Found && len(s.Problems) == 0
	switch {
	case s.Off:
		c.add(toolset.Off, history, s.Program+": switched off in your settings", "")
		return
	case isEmpty && s.Archive:
		return
	case isEmpty:
		c.add(toolset.Off, history, s.Program+": nothing is recorded in "+s.Place, "")
		return
	}
	count := text.Count(s.Conversations, "conversation", "conversations")
	if !s.Archive {
		count = fmt.Sprintf("%s of this project, %d of all,", text.Count(s.Here, "conversation", "conversations"), s.Conversations)
	}
	check := c.add(toolset.OK, history, s.Program+": "+count+" in "+s.Place, "")
	if s.Unknown > 0 {
		check.Detail += fmt.Sprintf("; %s of an unknown type, or damaged, left out", text.Count(s.Unknown, "record", "records"))
	}
	for _, remark := range s.Remarks {
		check.Detail += "; " + remark
	}
	var problems []conversations.Problem
	for _, p := range s.Problems {
		if p.Kind == conversations.Unnamed {
			check.Detail += "; not read: " + named([]conversations.Problem{p})
		} else {
			problems = append(problems, p)
		}
	}
	if len(problems) > 0 {
		check.Status, check.Fix = toolset.Warning, "make it readable, or leave it: the others are read"
		check.Detail += "; cannot be read: " + named(problems)
	}
}

// search checks what conversation_search reads, and the indexes. Settings that
// cannot be used are a problem of histories.
func (c *checking) search() {
	o := c.options(c.host.Dir)
	o.AllProjects = true
	sources, err := o.SearchSources()
	if err != nil {
		return
	}
	library, err := conversations.Open(o)
	if err != nil {
		return
	}
	check := c.add(toolset.OK, "search", "of all projects: "+join(sources, "and"), "")
	var damaged []string
	for _, r := range library.IndexReports() {
		if r.Err != nil {
			damaged = append(damaged, fmt.Sprintf("%s in %s: %v", r.Store, r.Place, r.Err))
		}
	}
	if len(damaged) > 0 {
		check.Status, check.Fix = toolset.Warning, "make them anew: "+c.host.Name+" search index"
		check.Detail += "; indexes that cannot be used, so that all is read: " + bounded(damaged, ", ", namedDamaged)
	}
	if dir := o.Indexes.Foreign(); dir != "" {
		check.Status, check.Fix = toolset.Warning, "set XDG_CACHE_HOME to a directory of your own"
		check.Detail += "; " + dir + " belongs to another user, so that all is read"
	}
}
