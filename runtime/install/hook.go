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

// hook returns the item to add to a list of start hooks. The item makes the host run this program when a session starts
// without a history: "startup" is the start of a new session, "clear" the start after the user has cleared the history.
func (o Options) hook(scope Scope) []configedit.Member {
	line := process.JoinCommand(o.programIn(scope), hookCommand)
	run := []configedit.Member{{Key: "type", Value: "command"}, {Key: "command", Value: line}}
	return []configedit.Member{{Key: "matcher", Value: "startup|clear"}, {Key: "hooks", Value: [][]configedit.Member{run}}}
}

// runsHook reports whether an item of a list of start hooks runs this program, at any path, as the start hook. isAlone
// reports whether the item runs nothing else.
func (o Options) runsHook(item any) (runs, isAlone bool) {
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

// planHook plans a change to the file with a host's hooks: it adds the start hook of this program if isWanted is true and
// the file has none, and removes all start hooks of this program if isWanted is false. The error is a *ManualError.
func (c *Change) planHook(host Host, opts Options, isWanted bool) error {
	s := host.site(c.Scope)
	hooks := site{files: []string{s.hooks}, movedBy: s.movedBy}
	paths, err := hooks.candidates(opts)
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
		switch runs, isAlone := opts.runsHook(item); {
		case runs && isAlone:
			own = append(own, i)
		case runs:
			isShared = true
		}
	}
	hasHook := isShared || len(own) > 0
	switch {
	case isWanted && hasHook:
		return nil
	case isWanted:
		return c.addHook(current, opts)
	case isShared:
		c.note("%s runs %s %s beside other hooks, and still does: take it out by hand.", current.path, opts.Name, hookCommand)
	}
	if len(own) == 0 {
		return nil
	}
	return c.removeHooks(current, own, len(own) == len(items))
}

// addHook plans to add the start hook of this program to the list of start hooks in a file.
func (c *Change) addHook(current snapshot, opts Options) error {
	if err := current.writable(); err != nil {
		return err
	}
	item := opts.hook(c.Scope)
	after, err := configedit.Append(current.data, startHooks[:], item)
	if err != nil {
		return err
	}
	c.add(current, after, marked("+", configedit.Snippet(configedit.JSON, startHooks[:], item)))
	return nil
}

// removeHooks plans to remove the items with the given indexes from the list of start hooks in a file. If areAll is true,
// the indexes are those of all items: then it removes the list, and the table around the list if nothing else is in it.
func (c *Change) removeHooks(current snapshot, indexes []int, areAll bool) error {
	err := current.writable()
	if err != nil {
		return err
	}
	after := current.data
	for _, i := range slices.Backward(indexes) {
		if after, err = configedit.RemoveItem(after, startHooks[:], i); err != nil {
			return err
		}
	}
	if areAll {
		if after, err = configedit.Remove(configedit.JSON, after, startHooks[:]); err != nil {
			return err
		}
	}
	if after, err = withoutEmpty(configedit.JSON, after, startHooks[:1]); err != nil { // the table around the list
		return err
	}
	c.add(current, current.orNone(after), "-"+strings.Join(startHooks[:], ".")+"\n")
	return nil
}
