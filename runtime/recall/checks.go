package recall

import (
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

// How long listing all conversations may take in a check. The built-in reader goes
// through every one of them and comes to an end by itself; a program may not.
const (
	builtinLimit = 30 * time.Second
	programLimit = 5 * time.Second
)

// namedDamaged is how many damaged conversations a check names.
const namedDamaged = 5

// checks looks at the workspace, at what serves conversations, at these, and at what
// other programs recorded.
// Without a workspace there is nothing to run a program on.
func (f *family) checks(ctx context.Context) []toolset.Check {
	w, found := f.checkWorkspace(ctx)
	checks := []toolset.Check{found}
	if w != nil {
		checks = append(checks, checkUserData(ctx, w))
	}
	cli := f.checkCommandLine()
	if w == nil || cli.Status == toolset.Problem {
		checks = append(checks, cli)
	} else {
		checks = append(checks, f.checkConversations(ctx, cli)...)
	}
	if f.line() != "" {
		return checks
	}
	return append(append(checks, f.checkHistories(ctx)...), f.checkSearch()...)
}

// checkSearch says what conversation_search asks, and how large indexes are, how old, and which
// cannot be used. Settings that cannot be used are told with histories.
func (f *family) checkSearch() []toolset.Check {
	o := f.options(f.host.Dir)
	o.AllProjects = true
	sources, err := o.SearchSources()
	if err != nil {
		return nil
	}
	library, err := conversations.Open(o)
	if err != nil {
		return nil
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
	check := toolset.Check{Name: "search", Status: toolset.OK, Detail: "of all projects: " + join(sources, "and")}
	if bytes > 0 {
		check.Detail += fmt.Sprintf("; indexes of %.1f MB, the oldest of %s", float64(bytes)/1e6, time.Unix(oldest, 0).UTC().Format("2006-01-02 15:04 UTC"))
	}
	if len(damaged) > 0 {
		check.Status, check.Fix = toolset.Warning, "make them anew: "+f.host.Name+" search index"
		check.Detail += "; indexes that cannot be used, so that all is read: " + bounded(damaged, ", ", namedDamaged)
	}
	if dir := o.Indexes.Foreign(); dir != "" {
		check.Status, check.Fix = toolset.Warning, "set XDG_CACHE_HOME to a directory of your own"
		check.Detail += "; " + dir + " belongs to another user, so that all is read"
	}
	return []toolset.Check{check}
}

// checkHistories looks at what other programs recorded, each of which is a history.
func (f *family) checkHistories(ctx context.Context) (checks []toolset.Check) {
	ctx, cancel := context.WithTimeout(ctx, builtinLimit)
	defer cancel()
	add := func(status toolset.Status, name, detail, fix string) {
		checks = append(checks, toolset.Check{Name: name, Status: status, Detail: detail, Fix: fix})
	}
	inventory, err := conversations.Options{Dir: f.host.Dir, Getenv: f.host.Getenv, Now: f.host.Now}.Inventory(ctx)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		add(toolset.Problem, history, fmt.Sprintf("listing what other programs recorded was stopped after %v", builtinLimit), "see which of them takes so long: "+f.host.Name+" stores")
		return checks
	case err != nil:
		add(toolset.Problem, history, personal(err).Error(), "correct it")
		return checks
	}
	for _, warning := range inventory.Warnings {
		add(toolset.Warning, "settings", warning, "correct it, or remove it")
	}
	for _, dir := range inventory.Missing {
		add(toolset.Warning, history, config.Short(dir, f.host.Getenv)+" is excluded in your settings, and is not there: what was recorded there stays excluded", "see that it is spelt as you mean it")
	}
	if inventory.Excluded != "" {
		add(toolset.Off, history, "of this project nothing is read: "+inventory.Excluded+" excludes it", "")
	}
	for i := range inventory.Stores {
		s := &inventory.Stores[i]
		isNone := s.Archive && !s.Found && !s.Off && len(s.Problems) == 0
		if s.Name != jp.Name && !isNone {
			checks = append(checks, f.checkHistory(s))
		}
	}
	return checks
}

// history is the name of checks of what other programs recorded.
const history = "history"

func (f *family) checkHistory(s *conversations.StoreReport) toolset.Check {
	check := toolset.Check{Name: history, Status: toolset.OK, Detail: s.Program + ": "}
	switch {
	case s.Off:
		check.Status = toolset.Off
		check.Detail += "switched off in your settings"
		return check
	case !s.Found && len(s.Problems) == 0:
		check.Status = toolset.Off
		check.Detail += "nothing is recorded"
		if s.Place != "" {
			check.Detail += " in " + s.Place
		}
		return check
	}
	if s.Archive {
		check.Detail += fmt.Sprintf("%s in %s", text.Count(s.Conversations, "conversation", "conversations"), s.Place)
	} else {
		check.Detail += fmt.Sprintf("%s of this project, %d of all, in %s", text.Count(s.Here, "conversation", "conversations"), s.Conversations, s.Place)
	}
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
	return check
}

func (f *family) checkWorkspace(ctx context.Context) (*jp.Workspace, toolset.Check) {
	check := toolset.Check{Name: "workspace", Status: toolset.OK}
	w, err := f.workspace(f.host.Dir)
	if err == nil {
		check.Detail = w.Root()
		if w.ID() != "" {
			check.Detail += " (" + w.ID() + ")"
		}
		return w, check
	}
	check.Status, check.Detail = toolset.Problem, err.Error()
	check.Fix = "change to a project that has a .jp directory, or name one with --workspace DIR"
	var missing *conversations.NoWorkspaceError
	switch {
	case errors.As(err, &missing) && missing.Missing:
		check.Detail = missing.Dir + " does not exist"
	case missing != nil:
		check = toolset.Check{Name: "conversations", Status: toolset.OK, Detail: "of this project, recorded by programs below"}
		if f.nothing(ctx, f.host.Dir) != nil {
			check.Status, check.Detail = toolset.Off, "none of this project yet: what you do here with an assistant can be recalled from its next session on"
		}
	}
	return nil, check
}

func checkUserData(ctx context.Context, w *jp.Workspace) toolset.Check {
	if remarks := w.Remarks(ctx); len(remarks) > 0 {
		return toolset.Check{
			Name: "user data", Status: toolset.Warning, Detail: strings.Join(remarks, "; "),
			Fix: "run jp in this directory once, or leave it: what the project has is read",
		}
	}
	if w.UserStore() == "" {
		return toolset.Check{Name: "user data", Status: toolset.Off, Detail: "JP keeps nothing about this workspace outside of it"}
	}
	return toolset.Check{Name: "user data", Status: toolset.OK, Detail: w.UserStore()}
}

// checkCommandLine looks at what serves conversations.
func (f *family) checkCommandLine() toolset.Check {
	line := f.line()
	if line == "" {
		return toolset.Check{Name: "command line", Status: toolset.OK, Detail: "built in"}
	}
	check := toolset.Check{Name: "command line", Status: toolset.OK, Detail: fmt.Sprintf("%s (%s)", line, f.setting)}
	words, err := process.SplitCommand(line)
	if err == nil {
		_, err = exec.LookPath(words[0])
	}
	if err != nil {
		f.blame(&check, err.Error())
	}
	return check
}

// blame makes a problem of a check of a program that does not serve conversations.
func (f *family) blame(check *toolset.Check, why string) {
	check.Status = toolset.Problem
	check.Detail += ": " + why
	check.Fix = fmt.Sprintf("try it: %s conversation ls --format=json; correct %s, or unset it to use the built-in one", f.line(), f.setting)
}

// checkConversations counts the conversations, and names the damaged ones.
func (f *family) checkConversations(ctx context.Context, cli toolset.Check) []toolset.Check {
	limit := builtinLimit
	if f.line() != "" {
		limit = programLimit
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	library, err := f.library(f.host.Dir)
	if err != nil {
		return f.unlisted(cli, err)
	}
	// A program would have to print every conversation for what only the events tell.
	listing, err := library.List(ctx, conversations.ListQuery{Filter: conversations.Filter{Both: true, Hidden: true}, NoEvents: f.line() != ""})
	if err != nil {
		return f.unlisted(cli, err)
	}
	live, archived := 0, 0
	var damaged []string
	for i := range listing.Conversations {
		c := &listing.Conversations[i]
		if c.Archived {
			archived++
		} else {
			live++
		}
		if c.Damage != nil {
			damaged = append(damaged, named(c.Damage))
		}
	}
	for i := range listing.Aside.Problems {
		damaged = append(damaged, named(&listing.Aside.Problems[i]))
	}
	checks := []toolset.Check{cli, {Name: "conversations", Status: toolset.OK, Detail: fmt.Sprintf("%d live, %d archived", live, archived)}}
	if len(damaged) > 0 {
		checks = append(checks, toolset.Check{
			Name: "damaged", Status: toolset.Problem, Detail: bounded(damaged, ", ", namedDamaged),
			Fix: "restore them from a backup, or move them out of .jp/conversations",
		})
	}
	return checks
}

// named is a problem for a person.
func named(p *conversations.Problem) string {
	what := string(p.ID)
	if what == "" {
		what = p.Path
	}
	return shown(fmt.Sprintf("%s (%v)", what, p.Err))
}

// unlisted is the checks where there is no list: a program of the user's choice is
// to blame for that itself, unless it was not let.
func (f *family) unlisted(cli toolset.Check, err error) []toolset.Check {
	why := personal(err).Error()
	if errors.Is(err, context.DeadlineExceeded) {
		why = "listing conversations was stopped, as it took too long"
	}
	if _, err := f.library(f.host.Dir); f.line() != "" && err == nil {
		f.blame(&cli, why)
		return []toolset.Check{cli}
	}
	return []toolset.Check{cli, {
		Name: "conversations", Status: toolset.Problem, Detail: why,
		Fix: "see what this says: convtools conversation ls --hidden",
	}}
}

// reads returns whose conversations the tools read, for a person.
func (f *family) reads(context.Context) string {
	if line := f.line(); line != "" {
		return "Conversations are read by " + line + " (" + f.setting + ")."
	}
	library, err := f.library(f.host.Dir)
	var missing *conversations.NoWorkspaceError
	if err != nil && !errors.As(err, &missing) {
		return "No conversation is read: " + personal(err).Error() + "."
	}
	var from []string
	if err == nil {
		for _, o := range library.Origins() {
			from = append(from, o.Program+" in "+config.Short(o.Place, f.host.Getenv))
		}
	}
	if len(from) == 0 {
		return fmt.Sprintf("The tools read conversations of the project they are called from, recorded by %s: there are none yet; and conversation_search those of all projects and what was imported.", join(conversations.Programs(), "or"))
	}
	return fmt.Sprintf("The tools read conversations of the project they are called from, recorded by %s, and conversation_search those of all projects and what was imported; %s stores shows which.", join(from, "and"), f.host.Name)
}
