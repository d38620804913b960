package tools

import (
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/model/configured"
)

// readConfig reads the configuration for a directory and checks its models and servers. A wrong [session] is an error.
func readConfig(dir string, getenv func(string) string) (*config.Config, error) {
	c := config.Read(dir, getenv)
	configured.Check(c)
	for _, t := range c.Servers {
		t.Judge("mcp", serverProblem(t))
	}
	return c, c.Wrong("session")
}

// serverProblem returns the problem of a server as the end of a sentence, or "".
func serverProblem(t config.Table[config.Server]) string {
	switch s := t.Value; {
	case t.Name == "" || len(t.Name) > 32 || model.Flat(t.Name) != t.Name || strings.Contains(t.Name, "_"):
		return "is not a name: it has to be 1 to 32 letters, digits and hyphens"
	case (s.Command == "") == (s.URL == ""): // both are missing, or both are there
		return "needs either command or url"
	case s.URL != "" && (s.Args != nil || s.Env != nil):
		return "has args or env, which only a command takes"
	}
	return configured.AddressProblem(t.Value.URL)
}

// problems returns the problems of the tables of models, servers and trust.
func problems(c *config.Config) (all []error) {
	isOfKind := func(table string) bool {
		kind, _, _ := strings.Cut(table, ".")
		return kind == "model" || kind == "mcp" || kind == "trust"
	}
	for _, p := range c.Problems {
		if slices.ContainsFunc(p.Tables, isOfKind) {
			all = append(all, p)
		}
	}
	return all
}

// serversOf returns the MCP servers whose tables have no problem, sorted by name. It leaves out each server that
// needs the user's trust and does not have it, and returns an error for this server in untrusted.
func serversOf(c *config.Config) (servers []config.Table[config.Server], untrusted []error) {
	for _, t := range c.Servers {
		action := "" // what the server does that needs trust; "" means that it needs none
		switch {
		case t.Value.Command != "":
			action = "runs a program"
		case !configured.OnLoopback(t.Value.URL):
			action = "connects to another machine"
		}
		table := "mcp." + t.Name
		if c.Wrong(table) != nil {
			continue
		}
		if err := configured.Untrusted(c, t.File, table, action, ""); err != nil {
			untrusted = append(untrusted, err)
			continue
		}
		servers = append(servers, t)
	}
	slices.SortFunc(servers, func(a, b config.Table[config.Server]) int { return strings.Compare(a.Name, b.Name) })
	return servers, untrusted
}
