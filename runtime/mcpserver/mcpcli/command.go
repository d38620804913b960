// Package mcpcli has the command that serves tools over MCP: its flags, and the process around a server. It serves
// nothing itself, and never prints to the output of the protocol.
package mcpcli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/caller"
	"github.com/convtools/convtools/runtime/base/origin"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/mcpserver"
	"github.com/convtools/convtools/runtime/toolset"
)

const (
	// conversationIDEnv, after the name of the program, is the variable with the id of the conversation, for hosts
	// that start a server for each conversation and cannot change its arguments.
	conversationIDEnv = "CONVERSATION_ID"
	// noProject is the advice for a server outside of a project: a client starts it in any directory.
	noProject = "The user can register this MCP server with the arguments mcp --workspace DIR."
)

// command has the values of the flags.
type command struct {
	host     *toolset.Host
	registry *toolset.Registry

	structured bool
	tools      []string
	address    string
	tokenFile  string
	hosts      []string
	origins    []string
}

// Command returns the command mcp.
func Command(host *toolset.Host, registry *toolset.Registry) *cobra.Command {
	c := &command{host: host, registry: registry}
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the tools over MCP",
		Long: `Serves the tools over the Model Context Protocol on standard input and output.
An MCP client starts this program by itself, once it is registered there.

With --http it serves any number of clients over streamable HTTP instead, at
http://HOST:PORT/mcp. An address that other machines can reach needs a token.

The conversation a call is made from is what the client says in _meta under
"computer.jp/context", else --conversation-id, else ` + toolset.Variable(host.Name, conversationIDEnv) + `.`,
		Example: cli.Examples(host.Name, "mcp --workspace ~/src/project", "mcp --tool conversation_search", "mcp --http 127.0.0.1:8080",
			"mcp --http 0.0.0.0:8080 --token-file ~/.config/"+host.Name+"/token"),
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.Usagef("mcp takes no arguments, and got %q", args[0])
			}
			if err := c.checkFlags(cmd); err != nil {
				return cli.Usage(err)
			}
			if len(c.tools) > 0 {
				var err error
				if c.registry, err = c.registry.Only(c.tools...); err != nil {
					return cli.Usage(err)
				}
				c.host.Only = c.registry.Names()
			}
			if c.address == "" {
				return c.serveStdio(cmd.Context())
			}
			return c.serveHTTP(cmd.Context())
		},
	}
	registry.AddFlags(cmd)
	for _, f := range registry.Flags() {
		if f.Serving != "" {
			cmd.Long += "\n\n" + f.Serving
		}
	}
	flags := cmd.Flags()
	flags.BoolVar(&c.structured, "structured", false, "also send outcomes as structured content, for programs; models then see only that")
	flags.StringArrayVar(&c.tools, "tool", nil, "offer only `TOOL`; repeatable")
	flags.StringVar(&c.address, "http", "", "serve over HTTP on `ADDR`, such as 127.0.0.1:8080")
	flags.StringVar(&c.tokenFile, "token-file", "", "ask HTTP clients for the bearer token in `FILE`")
	flags.StringSliceVar(&c.hosts, "allow-host", nil, "also answer to `NAME` in the Host header")
	flags.StringSliceVar(&c.origins, "allow-origin", nil, "let web pages of `ORIGIN` call, such as https://example.com")
	return cmd
}

// checkFlags returns an error for a flag without an effect, and for a value that is malformed or empty. An empty value
// comes from a script with an empty variable; if it were ignored, more people might be served than was meant.
func (c *command) checkFlags(cmd *cobra.Command) error {
	isGiven := cmd.Flags().Changed
	if isGiven("http") {
		if c.address == "" {
			return errors.New("--http needs an address, such as 127.0.0.1:8080")
		}
		if err := mcpserver.CheckAddress(c.address); err != nil {
			return fmt.Errorf("--http: %w", err)
		}
	}
	for _, name := range []string{"token-file", "allow-host", "allow-origin"} {
		if isGiven(name) && !isGiven("http") {
			return fmt.Errorf("--%s only counts with --http", name)
		}
	}
	if isGiven("token-file") && c.tokenFile == "" {
		return errors.New("--token-file needs the name of a file; without the flag, no token is asked for")
	}
	for _, host := range c.hosts {
		if err := origin.CheckHost(host); err != nil {
			return fmt.Errorf("--allow-host: %w", err)
		}
	}
	for _, page := range c.origins {
		if err := origin.Check(page); err != nil {
			return fmt.Errorf("--allow-origin: %w", err)
		}
	}
	return nil
}

// serveStdio serves one client on standard input and output until the client goes away, and returns nil then. Only the
// protocol is written to standard output: everything else in the process prints to standard error.
func (c *command) serveStdio(ctx context.Context) error {
	out := c.host.Stdout
	c.host.Stdout = c.host.Stderr
	os.Stdout = os.Stderr
	// A write to a client that is gone sends SIGPIPE. Without this channel, SIGPIPE would end the process before the
	// programs of running tools are stopped. With it, the write only fails.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)
	callContext := c.context()
	callContext.Caller = caller.Caller{Process: caller.Server, ParentPID: os.Getppid(), Started: c.host.Now()}
	if dir, err := os.Getwd(); err == nil { // otherwise the directory is not known
		callContext.Caller.Dir = dir
	}
	defer c.registry.Background(ctx)()
	err := c.server(callContext).ServeStdio(ctx, c.host.Stdin, out)
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return err
}

// serveHTTP serves clients over HTTP until ctx is done. It prints the address of the server to standard error.
func (c *command) serveHTTP(ctx context.Context) error {
	opts := mcpserver.HTTPOptions{Hosts: c.hosts, Origins: c.origins}
	if c.tokenFile != "" {
		token, err := mcpserver.ReadToken(c.tokenFile)
		if err != nil {
			return err
		}
		opts.Token = token
	}
	listener, err := mcpserver.Listen(c.address, opts.Token)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.host.Stderr, "%s: MCP at http://%s%s\n", c.host.Name, listener.Addr(), mcpserver.Path)
	defer c.registry.Background(ctx)()
	return c.server(c.context()).ServeListener(ctx, listener, opts)
}

// context returns the context of calls about which the client says nothing: that of the flags, or of the environment.
func (c *command) context() contract.Context {
	result := c.host.Context()
	if result.ConversationID == "" {
		result.ConversationID = c.environmentConversation()
	}
	return result
}

func (c *command) server(callContext contract.Context) *mcpserver.Server {
	return mcpserver.New(mcpserver.Config{
		Name: c.host.Name, Title: c.host.Title, Version: c.host.Version,
		Tools:      c.registry,
		Context:    callContext,
		NoProject:  noProject,
		Structured: c.structured,
		Log:        c.host.Stderr,
	})
}

// environmentConversation returns the conversation id in the environment, or "". For a value that is no id, such as a
// host's own name for a conversation, it warns and returns "".
func (c *command) environmentConversation() string {
	variable := toolset.Variable(c.host.Name, conversationIDEnv)
	given := c.host.Getenv(variable)
	if given == "" {
		return ""
	}
	if err := c.registry.CheckConversationID(given); err != nil {
		cli.Warn(c.host.Stderr, "%s is ignored, so no conversation is left out of searches: %v", variable, err)
		return ""
	}
	return given
}
