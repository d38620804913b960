// Command mkworkspace writes synthetic JP workspaces: the bundled sample, and
// large ones to measure with. It only ever writes a new .jp directory.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/convtools/convtools/runtime/store/jp/jptest"
)

const usage = `usage:
  mkworkspace sample DIR
  mkworkspace large [-bytes 200MB] [-conversations 2000] [-needle-every 50] [-seed 1] DIR

Writes a workspace to DIR/.jp, which must not exist yet.
`

// usageError is a call that cannot be understood.
type usageError struct{ error }

func main() {
	err := run(os.Args[1:], os.Stdout)
	var wrongUse usageError
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return
	case errors.As(err, &wrongUse):
		fmt.Fprintf(os.Stderr, "error: %v\n%s", err, usage)
		os.Exit(2)
	default:
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string, stdout io.Writer) error {
	if len(args) == 0 {
		return usageError{errors.New("say what to write: sample or large")}
	}
	shape := jptest.Shape{Bytes: 200_000_000, Conversations: 2000, NeedleEvery: 50, Seed: 1}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	switch args[0] {
	case "sample":
	case "large":
		flags.Func("bytes", "size of all events together, such as 200MB or 64MiB", func(s string) (err error) {
			shape.Bytes, err = parseSize(s)
			return err
		})
		flags.IntVar(&shape.Conversations, "conversations", shape.Conversations, "number of conversations")
		flags.IntVar(&shape.NeedleEvery, "needle-every", shape.NeedleEvery, "plant a needle in every n-th tool result")
		flags.Uint64Var(&shape.Seed, "seed", shape.Seed, "seed of the text")
	case "-h", "-help", "--help", "help":
		fmt.Fprint(stdout, usage)
		return nil
	default:
		return usageError{fmt.Errorf("unknown workspace %q: expected sample or large", args[0])}
	}
	if err := flags.Parse(args[1:]); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprint(stdout, usage)
			return err
		}
		return usageError{err}
	}
	if flags.NArg() != 1 || flags.Arg(0) == "" {
		return usageError{fmt.Errorf("expected one directory after the flags, got %d arguments", flags.NArg())}
	}
	dir := flags.Arg(0)
	if args[0] == "sample" {
		return jptest.Sample(dir)
	}
	content, err := jptest.Large(dir, shape)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "conversations\t%d\nevents\t%d\ntool_results\t%d\nbytes\t%d\nneedle\t%s\nneedles\t%d\n",
		shape.Conversations, content.Events, content.Results, content.Bytes, jptest.Needle, content.Needles)
	return nil
}

// parseSize reads a number of bytes with an optional unit.
func parseSize(s string) (int64, error) {
	units := []struct {
		name  string
		bytes int64
	}{
		{"KiB", 1 << 10},
		{"MiB", 1 << 20},
		{"GiB", 1 << 30},
		{"KB", 1e3},
		{"MB", 1e6},
		{"GB", 1e9},
		{"B", 1},
	}
	number, factor := s, int64(1)
	for _, u := range units {
		if n, ok := strings.CutSuffix(s, u.name); ok {
			number, factor = strings.TrimSpace(n), u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n <= 0 || n > math.MaxInt64/factor {
		return 0, fmt.Errorf("%q is not a size: expected a number with B, KB, MB, GB, KiB, MiB or GiB, such as 200MB", s)
	}
	return n * factor, nil
}
