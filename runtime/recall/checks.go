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

// How long listing all conversations may take in a check. The built-in
// reader comes to an end by itself; a program may not.
const (
	builtinLimit = 30 * time.Second
	programLimit = 5 * time.Second
)

// namedDamaged is how many damaged conversations a check names.
const namedDamaged = 5

// checking is the checks that were made so far.
type checking struct {
	*family
	made []toolset.Check
}

func (c *checking) add(status toolset.Status, name, detail, fix string) *toolset.Check {
	c.made = append(c.made, toolset.Check{Name: name, Status: status, Detail: detail, Fix: fix})
	return &c.made[len(c.made)-1]
}

// checks looks at the workspace, at what serves conversations, at
// these, and at what other programs recorded.
func (f *family) checks(ctx context.Context) []toolset.Check {
	c := &checking{family: f}
	hasWorkspace := c.workspace(ctx)
	if c.commandLine() && hasWorkspace {
		c.conversations(ctx)
	}
	if f.line() == "" {
		c.histories(ctx)
		c.search()
	}
	return c.made
}

// workspace looks at the workspace of JP, and reports whether there is
// one: else there is nothing to run a program on.
func (c *checking) workspace(ctx context.Context) bool {
	const name, data = "workspace", "user data"
	w, err := c.family.workspace(c.host.Dir)
	if err == nil {
		id := ""
		if w.ID() != "" {
			id = " (" + w.ID() + ")"
		}
		c.add(toolset.OK, name, w.Root()+id, "")
		switch remarks := w.Remarks(ctx); {
		case len(remarks) > 0:
			c.add(toolset.Warning, data, strings.Join(remarks, "; "), "run jp in this directory once, or leave it: what the project has is read")
		case w.UserStore() == "":
			c.add(toolset.Off, data, "JP keeps nothing about this workspace outside of it", "")
		default:
			c.add(toolset.OK, data, w.UserStore(), "")
		}
		return true
	}
	const fix = "change to a project that has a .jp directory, or name one with --workspace DIR"
	missing, ok := errors.AsType[*conversations.NoWorkspaceError](err)
	if !ok || missing.Missing {
		detail := err.Error()
		if ok {
			detail = missing.Dir + " does not exist"
		}
		c.add(toolset.Problem, name, detail, fix)
		return false
	}
	if c.nothing(ctx, c.host.Dir) == nil {
		c.add(toolset.OK, "conversations", "of this project, recorded by programs below", "")
	} else {
		c.add(toolset.Off, "conversations", "none of this project yet: what you do here with an assistant can be recalled from its next session on", "")
	}
	return false
}

// commandLine looks at what serves conversations, and reports whether
// it can be run.
func (c *checking) commandLine() bool {
	const name = "command line"
	line := c.line()
	if line == "" {
		c.add(toolset.OK, name, "built in", "")
		return true
	}
	check := c.add(toolset.OK, name, fmt.Sprintf("%s (%s)", line, c.setting), "")
	words, err := process.SplitCommand(line)
	if err == nil {
		_, err = exec.LookPath(words[0])
	}
	if err != nil {
		c.blame(check, err.Error())
	}
	return err == nil
}

// blame makes a problem of a check of a program that does not serve
// conversations.
func (c *checking) blame(check *toolset.Check, why string) {
	check.Status = toolset.Problem
	check.Detail += ": " + why
	check.Fix = fmt.Sprintf("try it: %s conversation ls --format=json; correct %s, or unset it to use the built-in one", c.line(), c.setting)
}

// conversations counts the conversations, and names the damaged ones. A
// program of the user's choice is to blame itself where there is no
// list, unless it was not let.
func (c *checking) conversations(ctx context.Context) {
	isProgram, limit := c.line() != "", builtinLimit
	if isProgram {
		limit = programLimit
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	library, err := c.library(c.host.Dir)
	var listing conversations.Listing
	if err == nil {
		// A program would have to print every conversation for what only
		// the events tell.
		listing, err = library.List(ctx, conversations.ListQuery{Filter: conversations.Filter{Both: true, Hidden: true}, NoEvents: isProgram})
	}
	if err != nil {
		why := personal(err).Error()
		if errors.Is(err, context.DeadlineExceeded) {
			why = "listing conversations was stopped, as it took too long"
		}
		if isProgram && library != nil {
			c.blame(&c.made[len(c.made)-1], why)
		} else {
			c.add(toolset.Problem, "conversations", why, "see what this says: convtools conversation ls --hidden")
		}
		return
	}
	archived := 0
	var damaged []string
	for i := range listing.Conversations {
		l := &listing.Conversations[i]
		if l.Archived {
			archived++
		}
		if l.Damage != nil {
			damaged = append(damaged, named(l.Damage))
		}
	}
	for i := range listing.Aside.Problems {
		damaged = append(damaged, named(&listing.Aside.Problems[i]))
	}
	c.add(toolset.OK, "conversations", fmt.Sprintf("%d live, %d archived", len(listing.Conversations)-archived, archived), "")
	if len(damaged) > 0 {
		c.add(toolset.Problem, "damaged", bounded(damaged, ", ", namedDamaged), "restore them from a backup, or move them out of .jp/conversations")
	}
}

// named returns a problem as it is told to a person.
func named(p *conversations.Problem) string {
	return shown(fmt.Sprintf("%s (%v)", cmp.Or(string(p.ID), p.Path), p.Err))
}

// history is the name of checks of what other programs recorded.
const history = "history"

// histories looks at what other programs recorded, each of which is a
// history.
func (c *checking) histories(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, builtinLimit)
	defer cancel()
	inventory, err := conversations.Options{Dir: c.host.Dir, Getenv: c.host.Getenv, Now: c.host.Now}.Inventory(ctx)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		c.add(toolset.Problem, history, fmt.Sprintf("listing what other programs recorded was stopped after %v", builtinLimit), "see which of them takes so long: "+c.host.Name+" stores")
		return
	case err != nil:
		c.add(toolset.Problem, history, personal(err).Error(), "correct it")
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

// history looks at what one program recorded. Archives are told only
// where there are any.
func (c *checking) history(s *conversations.StoreReport) {
	count := text.Count(s.Conversations, "conversation", "conversations") + " in " + s.Place
	if !s.Archive {
		count = fmt.Sprintf("%s of this project, %d of all, in %s", text.Count(s.Here, "conversation", "conversations"), s.Conversations, s.Place)
	}
	switch isEmpty := !s.Found && len(s.Problems) == 0; {
	case s.Off:
		c.add(toolset.Off, history, s.Program+": switched off in your settings", "")
		return
	case isEmpty && s.Archive:
		return
	case isEmpty:
		c.add(toolset.Off, history, s.Program+": nothing is recorded in "+s.Place, "")
		return
	}
	check := c.add(toolset.OK, history, s.Program+": "+count, "")
	if s.Unknown > 0 {
		check.Detail += fmt.Sprintf("; %s of an unknown type, or damaged, left out", text.Count(s.Unknown, "record", "records"))
	}
	for _, remark := range s.Remarks {
		check.Detail += "; " + remark
	}
	var problems []string
	for i := range s.Problems {
		if s.Problems[i].Kind == conversations.Unnamed {
			check.Detail += "; not read: " + named(&s.Problems[i])
		} else {
			problems = append(problems, named(&s.Problems[i]))
		}
	}
	if len(problems) > 0 {
		check.Status = toolset.Warning
		check.Detail += "; cannot be read: " + bounded(problems, ", ", namedDamaged)
		check.Fix = "make it readable, or leave it: the others are read"
	}
}

// search says what conversation_search asks, how large indexes are and
// how old, and which cannot be used. Settings that cannot be used are
// told with histories.
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
	var bytes, oldest int64
	var damaged []string
	for _, r := range library.IndexReports() {
		if r.Err != nil {
			damaged = append(damaged, fmt.Sprintf("%s in %s: %v", r.Store, r.Place, r.Err))
		}
		if r.Bytes > 0 && (bytes == 0 || r.Updated < oldest) {
			oldest = r.Updated
		}
		bytes += r.Bytes
	}
	check := c.add(toolset.OK, "search", "of all projects: "+join(sources, "and"), "")
	if bytes > 0 {
		since := time.Unix(oldest, 0).UTC().Format("2006-01-02 15:04 UTC")
		check.Detail += fmt.Sprintf("; indexes of %.1f MB, the oldest of %s", float64(bytes)/1e6, since)
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
