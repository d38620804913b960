package main

import (
	"context"
	"errors"
	"fmt"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/toolset"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/generated"
	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/envelope"
	"github.com/convtools/convtools/runtime/mcpserver"
	"github.com/convtools/convtools/runtime/transcript"
	"github.com/convtools/convtools/runtime/workspace"
)

// conversationIDEnv names the conversation for hosts that start one server a
// conversation and cannot change its arguments.
const conversationIDEnv = "CONVTOOLS_CONVERSATION_ID"

// mcpFlags are the flags of convtools mcp.
type mcpFlags struct {
	structured bool
	address    string
	tokenFile  string
	hosts      []string
	origins    []string
}

func (a *app) mcpCommand(registry *toolset.Registry) *cobra.Command {
	var flags mcpFlags
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the tools over MCP",
		Long: `Serves the tools over the Model Context Protocol on standard input and output.
An MCP client starts this program by itself, once it is registered there.

With --http it serves any number of clients over streamable HTTP instead, at
http://HOST:PORT/mcp. An address that other machines can reach needs a token.

The conversation a call is made from is what the client says in _meta under
"computer.jp/context", else --conversation-id, else CONVTOOLS_CONVERSATION_ID.

With --prompt-injected, what topics have learned is taken to be in the system
prompt, as convtools knowledge prompt prints it; without, it is recommended.`,
		Example: `  convtools mcp
  convtools mcp --workspace ~/src/project
  convtools mcp --http 127.0.0.1:8080
  convtools mcp --http 0.0.0.0:8080 --token-file ~/.config/convtools/token`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.Usagef("mcp takes no arguments, and got %q", args[0])
			}
			if err := checkMCPFlags(cmd, flags); err != nil {
				return cli.Usage(err)
			}
			if flags.address == "" {
				return a.mcpStdio(cmd.Context(), registry, flags)
			}
			return a.mcpHTTP(cmd.Context(), registry, flags)
		},
	}
	registry.AddFlags(cmd)
	cmd.Flags().BoolVar(&flags.structured, "structured", false, "also send outcomes as structured content, for programs; models then see only that")
	cmd.Flags().StringVar(&flags.address, "http", "", "serve over HTTP on `ADDR`, such as 127.0.0.1:8080")
	cmd.Flags().StringVar(&flags.tokenFile, "token-file", "", "ask HTTP clients for the bearer token in `FILE`")
	cmd.Flags().StringSliceVar(&flags.hosts, "allow-host", nil, "also answer to `NAME` in the Host header")
	cmd.Flags().StringSliceVar(&flags.origins, "allow-origin", nil, "let web pages of `ORIGIN` call, such as https://example.com")
	return cmd
}

// checkMCPFlags refuses flags that would go unheeded. An empty value is one that
// a script has failed to fill in: to take it for a flag that is not there would
// serve in another way than was meant, and to more people.
func checkMCPFlags(cmd *cobra.Command, flags mcpFlags) error {
	given := cmd.Flags().Changed
	if given("http") && flags.address == "" {
		return errors.New("--http needs an address, such as 127.0.0.1:8080")
	}
	if given("http") {
		if err := mcpserver.CheckAddress(flags.address); err != nil {
			return fmt.Errorf("--http: %w", err)
		}
	}
	for _, name := range []string{"token-file", "allow-host", "allow-origin"} {
		if given(name) && !given("http") {
			return fmt.Errorf("--%s only counts with --http", name)
		}
	}
	if given("token-file") && flags.tokenFile == "" {
		return errors.New("--token-file needs the name of a file; without the flag, no token is asked for")
	}
	for _, origin := range flags.origins {
		if err := mcpserver.CheckOrigin(origin); err != nil {
			return fmt.Errorf("--allow-origin: %w", err)
		}
	}
	return nil
}

// mcpStdio serves one client. Standard output is the protocol's: whatever else
// prints goes to standard error.
func (a *app) mcpStdio(ctx context.Context, registry *toolset.Registry, flags mcpFlags) error {
	out := a.host.Stdout
	a.host.Stdout = a.host.Stderr
	os.Stdout = os.Stderr
	// A client that is gone makes a write fail. Without this the write would end
	// the process before the programs it runs have been stopped.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)
	err := a.mcpServer(registry, flags).ServeStdio(ctx, a.host.Stdin, out)
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return err
}

func (a *app) mcpHTTP(ctx context.Context, registry *toolset.Registry, flags mcpFlags) error {
	opts := mcpserver.HTTPOptions{Hosts: flags.hosts, Origins: flags.origins}
	if flags.tokenFile != "" {
		token, err := mcpserver.ReadToken(flags.tokenFile)
		if err != nil {
			return err
		}
		opts.Token = token
	}
	listener, err := mcpserver.Listen(flags.address, opts.Token)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.host.Stderr, "convtools: MCP at http://%s%s\n", listener.Addr(), mcpserver.Path)
	return a.mcpServer(registry, flags).ServeListener(ctx, listener, opts)
}

func (a *app) mcpServer(registry *toolset.Registry, flags mcpFlags) *mcpserver.Server {
	a.person = false
	programs := a.programs()
	where := contract.Context{ConversationID: a.host.ConversationID, InConversation: true, Dir: a.host.Dir}
	if where.ConversationID == "" {
		where.ConversationID = a.environmentConversation()
	}
	return mcpserver.New(mcpserver.Config{
		Version: version,
		Tools:   registry.Offered,
		Knowledge: func() (mcpserver.Knowledge, error) {
			base, err := a.openKnowledge()
			if err != nil {
				return nil, err
			}
			return base, nil
		},
		Conversations: a.hasConversations,
		Call: func(ctx context.Context, call contract.Call) (string, error) {
			answer, err := registry.Call(ctx, call)
			return answer, adviseWorkspace(err)
		},
		CLI:        programs,
		Context:    where,
		Structured: flags.structured,
		Log:        a.host.Stderr,
	})
}

// hasConversations reports whether there is a workspace to look conversations up
// in. Which one another command line than the built-in reads is not known.
func (a *app) hasConversations() bool {
	cli, _ := generated.LookupCLI(conversation.ListCLI)
	if a.host.Getenv(cli.Env) != "" {
		return true
	}
	var missing *workspace.NotLocatedError
	_, err := workspace.Open(workspace.Options{Dir: a.host.Dir, Getenv: a.host.Getenv})
	return !errors.As(err, &missing)
}

// environmentConversation is the conversation that the environment names. What
// is no id, such as a host's own name of a conversation, is no reason not to
// serve, but must not pass for one that can be left out.
func (a *app) environmentConversation() string {
	given := a.host.Getenv(conversationIDEnv)
	if given == "" {
		return ""
	}
	if _, err := transcript.ParseID(given); err != nil {
		fmt.Fprintf(a.host.Stderr, "warning: %s is ignored, so no conversation is left out of searches: %s\n", conversationIDEnv, envelope.SanitizeLine(err.Error()))
		return ""
	}
	return given
}

// adviseWorkspace adds to the complaint about a missing workspace what to do
// about it: a client starts this program where it likes.
func adviseWorkspace(err error) error {
	var failure *contract.Error
	if !errors.As(err, &failure) || !strings.Contains(failure.Message, "Could not locate workspace") {
		return err
	}
	advised := *failure
	advised.Message += " The user can register this MCP server with the arguments mcp --workspace DIR."
	return &advised
}
