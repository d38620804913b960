package sessioncli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/session/sessionhost"
	"github.com/convtools/convtools/runtime/session/sessionlog"
	"github.com/convtools/convtools/runtime/sessionconfig"
)

// completeID completes the id of a session, the one used last first, with its title.
func (c *commands) completeID(_ *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	dir, err := sessionhost.LogDir(c.host.Getenv)
	if err != nil || len(args) > 0 {
		return nil, directive
	}
	all, _ := sessionlog.List(dir) // whoever completes sees no errors
	const most = 20
	var found []cobra.Completion
	for _, info := range all {
		if !strings.HasPrefix(info.Session, strings.ToLower(word)) {
			continue
		}
		summary, err := sessionlog.Summarize(dir, info.Session)
		if err != nil {
			continue
		}
		if found = append(found, cobra.CompletionWithDesc(info.Session, text.Cell(titleOf(summary)))); len(found) == most {
			break
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

// titleOf returns what a person knows a session by: its title, or the beginning of what was said first.
func titleOf(s sessionlog.Summary) string {
	if s.Context.Title != "" {
		return s.Context.Title
	}
	return firstLine(s.Input)
}

// titleIn is the title of a conversation, or the beginning of what was said first.
func titleIn(c *session.Conversation) string {
	if c.Title != "" {
		return c.Title
	}
	for _, item := range c.Items() {
		if item.Kind == session.UserMessage && item.Origin != session.FromHost {
			return firstLine(item.Parts)
		}
	}
	return ""
}

// firstLine is the beginning of what was said.
func firstLine(parts []session.Part) string {
	const most = 60
	for _, part := range parts {
		if line, _, _ := strings.Cut(strings.TrimSpace(part.Text), "\n"); line != "" {
			return text.Cut(line, most)
		}
	}
	return ""
}
