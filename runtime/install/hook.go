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

// hook returns the item, for a list of start hooks, that runs this program when a session starts anew.
func (o Options) hook(scope Scope) []configedit.Member {
	line := process.JoinCommand(o.programIn(scope), hookCommand)
	run := []configedit.Member{{Key: "type", Value: "command"}, {Key: "command", Value: line}}
	return []configedit.Member{{Key: "matcher", Value: "startup|clear"}, {Key: "hooks", Value: [][]configedit.Member{run}}}
}

// runsHook reports whether an item of a list of start hooks runs this program, at any path, as the start hook. isAlone
// reports whether the item runs nothing else.
func (o Options) runsHook(item any) (ok, isAlone bool) {
	group, _ := item.(map[string]any)
	hooks, _ := group["hooks"].([]any)
	own := 0
	for _, hook := range hooks {
		table, _ := hook.(map[string]any)
		line, _ := table["command"].(string)
		words, err := process.SplitCommand(line)
		if err == nil && len(words) >= 2 && words[1] == hookCommand && o.isNamed(words[0]) {
			own++
		}
	}
	return own > 0, own == len(hooks)
}

// planHook plans a change to the file with a host's hooks. If the start hook of this program is wanted, it adds the
// hook unless the file has it; otherwise it removes all start hooks of this program. The error is a *ManualError.
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

// changeHook is [Change.planHook] for a file that was read. An item that runs other hooks too stays, with a note.
func (c *Change) changeHook(current snapshot, opts Options, isWanted bool) error {
	if !isWanted && !bytes.Contains(current.data, []byte(hookCommand)) {
		return nil // nothing to remove, also if the file cannot be edited
	}
	items, err := configedit.List(current.data, startHooks[:])
	if err != nil {
		return err
	}
	var own []int     // the indexes of the items that run only this program
	isShared := false // an item runs this program beside other hooks
	for i, item := range items {
		ok, isAlone := opts.runsHook(item)
		if ok && isAlone {
			own = append(own, i)
		}
		isShared = isShared || ok && !isAlone
	}
	if !isWanted && isShared {
		c.note("%s runs %s %s beside other hooks, and still does: take it out by hand.", current.path, opts.Name, hookCommand)
	}
	if isWanted && isShared || isWanted == (len(own) > 0) {
		return nil // the file is as wanted
	}
	if err := current.writable(); err != nil {
		return err
	}
	if !isWanted {
		return c.removeHooks(current, own, len(own) == len(items))
	}
	item := opts.hook(c.Scope)
	after, err := configedit.Append(current.data, startHooks[:], item)
	if err == nil {
		c.add(current, after, marked("+", configedit.Snippet(configedit.JSON, startHooks[:], item)))
	}
	return err
}

// removeHooks plans to remove the items with the given indexes from the list of start hooks in a file. If they are all
// items, it removes the list, and the table around the list if that is empty then.
func (c *Change) removeHooks(current snapshot, indexes []int, areAll bool) (err error) {
	after := current.data
	for _, i := range slices.Backward(indexes) {
		if after, err = configedit.RemoveItem(after, startHooks[:], i); err != nil {
			return err
		}
	}
	if areAll {
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
