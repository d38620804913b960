package command

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/session/log"
	"github.com/convtools/convtools/runtime/session/tools"
	"github.com/convtools/convtools/runtime/sessionconfig"
)

// completeID completes the id of a session, the one used last first, with its title.
func (c *commands) completeID(_ *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	dir, err := tools.LogDir(c.host.Getenv)
	if err != nil || len(args) > 0 {
		return nil, directive
	}
	all, _ := log.List(dir) // whoever completes sees no errors
	const most = 20
	var found []cobra.Completion
	for _, info := range all {
		if !strings.HasPrefix(info.Session, strings.ToLower(word)) || len(found) == most {
			continue
		}
		if s := describe(dir, info); s.Problem == "" {
			found = append(found, cobra.CompletionWithDesc(s.ID, text.Cell(s.Title)))
		}
	}
	return found, directive
}

// completeModel completes the name of a model.
func (c *commands) completeModel(_ *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	config, _ := sessionconfig.Load(c.host.Dir, c.host.Getenv) // as in completeID
	var found []cobra.Completion
	for _, m := range config.Models {
		if strings.HasPrefix(m.Name, word) {
			found = append(found, m.Name)
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}
