package conversationcli

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/convtools/convtools/runtime/cli"
)

func failedHint(hint, format string, args ...any) error {
	return cli.Hint(fmt.Errorf(format, args...), hint)
}

func usageError(hint, format string, args ...any) error {
	return cli.Hint(cli.Usagef(format, args...), hint)
}

// flagError turns what the flag parser says into advice.
func flagError(cmd *cobra.Command, err error) error {
	hint := fmt.Sprintf("%s --help lists the flags", cmd.CommandPath())
	var unknown *pflag.NotExistError
	if cmd.Name() == "grep" && errors.As(err, &unknown) {
		hint = "to search for text that starts with '-', put -- before it: " + cmd.CommandPath() + " -- '-text'"
	}
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		flag := invalid.GetFlag()
		switch {
		case flag.Value.Type() == "int" && errors.Is(err, strconv.ErrRange):
			return usageError(hint, "--%s cannot be %s: the number is too large", flag.Name, invalid.GetValue())
		case flag.Value.Type() == "int":
			return usageError(hint, "--%s must be a whole number, not %q", flag.Name, invalid.GetValue())
		case flag.Value.Type() == "bool":
			return usageError(hint, "--%s must be true or false, not %q", flag.Name, invalid.GetValue())
		}
	}
	return usageError(hint, "%w", err)
}

// excluded checks that of two flags at most one is given, for each pair.
func excluded(flags *pflag.FlagSet, pairs ...[2]string) error {
	for _, pair := range pairs {
		if flags.Changed(pair[0]) && flags.Changed(pair[1]) {
			return usageError("give only one of them", "--%s and --%s exclude each other", pair[0], pair[1])
		}
	}
	return nil
}
