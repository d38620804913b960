package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/generated"
	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/envelope"
	"github.com/convtools/convtools/runtime/knowledge"
	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/program"
	"github.com/convtools/convtools/runtime/recall"
	"github.com/convtools/convtools/runtime/recall/conversationcli"
)

const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// version is the version of this tree.
const version = "0.1.0"

// run runs one command line and returns the exit code.
func (a *app) run(ctx context.Context, args []string) int {
	// This does not wait for a command tree to be built; and whatever its
	// arguments are, they are not flags.
	if rest, ok := a.beforeJPTool(args); ok {
		if len(rest) != 1 || rest[0] != "--help" && rest[0] != "-h" {
			return a.jpTool(ctx, rest)
		}
		args = []string{"help", "jp-tool"} // a person asks: JP always sends two arguments
	}
	root := a.root()
	root.SetArgs(conversationcli.NormalizeArgs(a.spellOut(args)))
	cmd, err := root.ExecuteContextC(ctx)
	var usage *usageError
	if errors.As(err, &usage) {
		usage.command = cmd
	}
	return a.report(err)
}

// beforeJPTool reads the flags that stand before jp-tool, and returns what stands
// behind it. JP reads an outcome from standard output in any case,
// so no error of the flag parser may come in between.
func (a *app) beforeJPTool(args []string) (rest []string, ok bool) {
	for len(args) > 0 {
		name, value, glued := strings.Cut(args[0], "=")
		set := a.jpToolFlag(name)
		switch {
		case args[0] == "jp-tool":
			return args[1:], true
		case args[0] == "--prompt-injected":
			a.knowledge.Injected, args = true, args[1:]
		case set == nil:
			return nil, false
		case glued:
			set(value)
			args = args[1:]
		case len(args) > 1:
			set(args[1])
			args = args[2:]
		default:
			return nil, false
		}
	}
	return nil, false
}

// spellOut writes a --prompt-injected before the command with its value: the flag
// parser, which does not know yet whose it is, would take the command for that.
func (a *app) spellOut(args []string) []string {
	args = slices.Clone(args)
	for i := 0; i < len(args) && strings.HasPrefix(args[i], "-") && args[i] != "--"; i++ {
		switch {
		case args[i] == "--prompt-injected":
			args[i] += "=true"
		case a.jpToolFlag(args[i]) != nil:
			i++ // its value
		}
	}
	return args
}

// jpToolFlag returns what takes the value of a flag that may stand before
// jp-tool, and nil for other flags.
func (a *app) jpToolFlag(name string) func(value string) {
	switch name {
	case "-w", "--workspace":
		return func(value string) { a.workspace = value }
	case "--conversation-id":
		return func(value string) { a.conversationID = value }
	case "-k", "--knowledge":
		return func(value string) { a.knowledge.Patterns = append(a.knowledge.Patterns, value) }
	}
	return nil
}

// usageError is an error in how the program was called.
type usageError struct {
	err     error
	command *cobra.Command // that was called, or nil
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// help is the command that says how to use the one that was called.
func (e *usageError) help() string {
	if e.command == nil {
		return "convtools help"
	}
	name, below, _ := strings.Cut(e.command.CommandPath(), " ")
	return strings.TrimSpace(name + " help " + below)
}

// report writes an error to standard error and returns the exit code.
func (a *app) report(err error) int {
	var usage *usageError
	var invalid *contract.InvalidArguments
	var tool *contract.Error
	var said *reported
	switch {
	case errors.As(err, &said):
		return said.code
	case errors.As(err, &usage):
		fmt.Fprintf(a.stderr, "error: %s\nhint: see %s\n", envelope.Sanitize(usage.Error()), usage.help())
		return exitUsage
	case errors.As(err, &invalid), errors.As(err, &tool):
		fmt.Fprintf(a.stderr, "error: %s\n", envelope.Sanitize(err.Error()))
		for _, cause := range traceOf(tool) {
			fmt.Fprintf(a.stderr, "cause: %s\n", envelope.Sanitize(cause))
		}
		return exitFailed
	default:
		if findings, ok := knowledge.ConfigFindings(err); ok {
			return a.reportFindings(findings)
		}
		return conversationcli.Report(a.stderr, err)
	}
}

func traceOf(e *contract.Error) []string {
	if e == nil {
		return nil
	}
	return e.Trace
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "convtools",
		Short:         "Conversations and knowledge for assistants",
		Long:          "Gives assistants their past conversations and what their project knows.",
		Example:       "  convtools install claude-code",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return cmd.Help()
		},
	}
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &usageError{err: err} })
	root.PersistentFlags().StringVarP(&a.workspace, "workspace", "w", "", "the workspace at or above `DIR`, or with that id")
	root.PersistentFlags().StringVar(&a.conversationID, "conversation-id", "", "the conversation with this `ID` calls: leave it out")
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return a.applyConversationID(cmd) }
	root.AddCommand(conversationcli.Command(a.conversationEnv("")), a.knowledgeCommand(), a.completesTools(a.callCommand()), a.toolsCommand(), a.versionCommand(), jpToolHelp())
	root.AddCommand(a.mcpCommand())
	root.AddCommand(a.installCommand(), a.uninstallCommand(), a.doctorCommand(), a.manCommand(), a.completionCommand())
	return withHelp(root)
}

// jpToolHelp documents jp-tool; run answers it before commands are looked up.
func jpToolHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "jp-tool CONTEXT TOOL",
		Short: "Answer one tool call of JP",
		Long: `Answers one tool call in JP's protocol for local tools: CONTEXT and TOOL are
JSON objects, and one JSON outcome is printed, whatever they hold. The exit code
is always 0. convtools install jp writes tool definitions that say:

  command = "convtools jp-tool {{context}} {{tool}}"

Before jp-tool can stand -w, --conversation-id, and for learn -k TOPIC/GLOB and
--prompt-injected, as in: convtools -k 'project/style/**' jp-tool …`,
		Example:            `  convtools jp-tool '{"root": "."}' '{"name": "conversation_list"}'`,
		DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return &usageError{err: errors.New("only -w, --conversation-id, -k and --prompt-injected can stand before jp-tool")}
		},
	}
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Example: "  convtools version", Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return a.printVersion() },
	}
}

// noArgs demands that there are no arguments.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return &usageError{err: fmt.Errorf("%s takes no arguments, got %q", cmd.Name(), args[0])}
	}
	return nil
}

// oneArg demands one argument, which is called name.
func oneArg(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return &usageError{err: fmt.Errorf("%s takes one argument, %s, and got %d", cmd.Name(), name, len(args))}
		}
		return nil
	}
}

// applyConversationID demands that --conversation-id is an id, because nothing
// could be left out for anything else, and has the search for people leave it
// out like the tools do.
func (a *app) applyConversationID(cmd *cobra.Command) error {
	if a.conversationID == "" {
		return nil
	}
	if _, err := conversations.ParseID(a.conversationID); err != nil {
		return &usageError{err: fmt.Errorf("--conversation-id: %w", err)}
	}
	if cmd.Name() == "grep" && cmd.Flags().Lookup("exclude-id") != nil {
		return cmd.Flags().Set("exclude-id", a.conversationID)
	}
	return nil
}

func (a *app) printVersion() error {
	_, err := io.WriteString(a.stdout, "convtools "+version+"\n")
	return err
}

// conversationEnv is what the conversation command line runs in. dir is where
// it looks for the workspace; empty leaves that to its own flag.
func (a *app) conversationEnv(dir string) conversationcli.Env {
	return conversationcli.Env{
		Stdin: a.stdin, Stdout: a.stdout, Stderr: a.stderr,
		IsTerminal: a.terminal, Width: a.width, Getenv: a.getenv, Workspace: dir,
	}
}

// handlers wires the tools to the command lines they run.
func (a *app) handlers(programs *program.Programs) generated.Handlers {
	return generated.Handlers{
		Conversation: recall.New(programs),
		Knowledge:    learner{a, knowledge.NewHandler(a.knowledgeOptions())},
		CLI:          programs,
	}
}

// programs finds the command lines that tools run.
func (a *app) programs() *program.Programs {
	return &program.Programs{
		Getenv: a.getenv,
		Runner: process.Exec{},
		Lookup: func(name string) (program.Spec, bool) {
			cli, ok := generated.LookupCLI(name)
			spec := program.Spec{Command: cli.Command, Env: cli.Env}
			if cli.Builtin && name == conversation.ListCLI {
				spec.Builtin = a.builtin
			}
			return spec, ok
		},
	}
}

// builtin serves the conversation command line in this process.
func (a *app) builtin(ctx context.Context, dir string, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	env := conversationcli.Env{Stdin: stdin, Stdout: stdout, Stderr: stderr, Getenv: a.getenv, Workspace: dir}
	return conversationcli.Run(ctx, env, args)
}

func (a *app) toolNames() string {
	var names []string
	for _, tool := range generated.Tools() {
		names = append(names, tool.Name)
	}
	return strings.Join(names, ", ")
}
