package main

import (
	"bytes"
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/recall/conversationcli"
	"github.com/convtools/convtools/runtime/toolset"
)

// provisionalCLI runs the conversation command line for the old mcpserver. It goes
// with that.
type provisionalCLI struct{ getenv func(string) string }

func (p provisionalCLI) RunCLI(ctx context.Context, _ string, call contract.Context, args []string) (stdout, stderr []byte, exit int, err error) {
	if line := strings.TrimSpace(p.getenv("CONVTOOLS_CLI")); line != "" {
		words, err := process.SplitCommand(line)
		if err != nil {
			return nil, nil, 0, err
		}
		result, err := process.Exec{}.Run(ctx, process.Command{Path: words[0], Args: append(words[1:], args...), Dir: call.Dir})
		return result.Stdout, result.Stderr, result.ExitCode, err
	}
	var out, errs bytes.Buffer
	host := &toolset.Host{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: p.getenv, Now: time.Now}
	root := cli.Group(&cobra.Command{Use: "convtools"}, conversationcli.Command(host))
	root.SetOut(&out)
	root.SetErr(&errs)
	cli.Setup(root, nil)
	host.Dir = call.Dir
	root.SetArgs(args)
	exit = cli.Execute(ctx, root)
	return out.Bytes(), errs.Bytes(), exit, nil
}
