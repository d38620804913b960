package install

import (
	"bytes"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/configedit"
	"github.com/convtools/convtools/runtime/process"
)

// startHooks is the path of the list of Claude Code's hooks for the start of a session: each item has a pattern for how
// it starts, and hooks. https://code.claude.com/docs/en/hooks
var startHooks = [...]string{"hooks", "SessionStart"}

// hookCommand is the argument with which this program is a start hook.
const hookCommand = "start-hook"

// HasHook reports whether a host runs a command when a session starts.
func (h Host) HasHook() bool { return h.user.hooks != "" }

// hook returns the item that runs this program when a session starts anew.
func (o Options) hook(scope Scope) []configedit.Member {
	program := o.Program
	if scope == Project && o.ProgramName != "" {
		program = o.ProgramName
	}
	run := []configedit.Member{{Key: "type", Value: "command"}, {Key: "command", Value: process.JoinCommand(program, hookCommand)}}
	return []configedit.Member{{Key: "matcher", Value: "startup|clear"}, {Key: "hooks", Value: [][]configedit.Member{run}}}
}

// runsHook reports whether an item runs this program, at any path, as the start hook and nothing else.
func (o Options) runsHook(item any) bool {
	all, own := o.countHooks(item)
	return own > 0 && own == all
}

// runsAlso reports whether an item runs this program as the start hook beside other hooks.
func (o Options) runsAlso(item any) bool {
	all, own := o.countHooks(item)
	return own > 0 && own < all
}

// countHooks returns the number of hooks in an item, and of those that run this program as the start hook.
func (o Options) countHooks(item any) (all, own int) {
	group, _ := item.(map[string]any)
	hooks, _ := group["hooks"].([]any)
	for _, hook := range hooks {
		table, _ := hook.(map[string]any)
		line, _ := table["command"].(string)
		words, err := process.SplitCommand(line)
		if err == nil && len(words) >= 2 && words[1] == hookCommand && o.isNamed(words[0]) {
			own++
		}
	}
	return len(hooks), own
}

// planHook plans a change to the file with a host's hooks: it adds a start hook unless there is one, or it removes all
// of this program. The error is a *ManualError for a file that has to be edited by hand.
func (c *Change) planHook(host Host, opts Options, isWanted bool) error {
	s := host.site(c.Scope)
	paths, err := site{files: []string{s.hooks}, movedBy: s.movedBy}.candidates(opts)
	if err != nil {
		return err
	}
	current, err := readFile(paths[0])
	if err == nil {
		err = c.changeHook(current, opts, isWanted)
	}
	if err != nil {
		return leftAlone(paths[0], err)
	}
	return nil
}

// changeHook is [Change.planHook] for a file that was read.
func (c *Change) changeHook(current snapshot, opts Options, isWanted bool) error {
	if !isWanted && !bytes.Contains(current.data, []byte(hookCommand)) {
		return nil // also if the file cannot be edited
	}
	list, err := configedit.List(current.data, startHooks[:])
	if !isWanted && slices.ContainsFunc(list, opts.runsAlso) {
		c.note("%s runs %s %s beside other hooks, and still does: take it out by hand.", current.path, opts.Name, hookCommand)
	}
	isThere := slices.ContainsFunc(list, opts.runsHook) || isWanted && slices.ContainsFunc(list, opts.runsAlso)
	if err != nil || isThere == isWanted {
		return err
	}
	if err := current.writable(); err != nil {
		return err
	}
	if !isWanted {
		return c.removeHooks(current, list, opts)
	}
	hook := opts.hook(c.Scope)
	after, err := configedit.Append(current.data, startHooks[:], hook)
	if err == nil {
		c.add(current, after, marked("+", configedit.Snippet(configedit.JSON, startHooks[:], hook)))
	}
	return err
}

// removeHooks plans to remove the items of a list that run this program.
func (c *Change) removeHooks(current snapshot, list []any, opts Options) (err error) {
	after := current.data
	for i, item := range slices.Backward(list) {
		if opts.runsHook(item) && err == nil {
			after, err = configedit.RemoveItem(after, startHooks[:], i)
		}
	}
	if err == nil && !slices.ContainsFunc(list, func(item any) bool { return !opts.runsHook(item) }) {
		after, err = configedit.Remove(configedit.JSON, after, startHooks[:])
	}
	if err == nil {
		after, err = withoutEmpty(configedit.JSON, after, startHooks[:1])
	}
	if err == nil {
		c.add(current, current.orNone(after), "-"+strings.Join(startHooks[:], ".")+"\n")
	}
	return err
}
