package command

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/model/configured"
	"github.com/convtools/convtools/runtime/session/log"
	"github.com/convtools/convtools/runtime/session/tools"
)

// completeID completes the id of a session, the last used first, with its title.
func (c *commands) completeID(_ *cobra.Command, args []string, word string) (found []cobra.Completion, _ cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	dir, err := tools.LogDir(c.host.Getenv)
	if err != nil || len(args) > 0 {
		return nil, directive
	}
	all, _ := log.List(dir) // a completion cannot show errors
	const most = 20
	for _, info := range all {
		if len(found) < most && strings.HasPrefix(info.Session, strings.ToLower(word)) {
			if s := describe(dir, info); s.Problem == "" {
				found = append(found, cobra.CompletionWithDesc(s.ID, text.Cell(s.Title)))
			}
		}
	}
	return found, directive
}

// completeModel completes the name of a model.
func (c *commands) completeModel(_ *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	names := configured.Names(config.Read(c.host.Dir, c.host.Getenv))
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, word) }), cobra.ShellCompDirectiveNoFileComp
}
