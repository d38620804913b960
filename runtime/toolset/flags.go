package toolset

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
)

// AddFlags defines the flags that say where a call comes from.
func (h *Host) AddFlags(set *pflag.FlagSet) {
	set.StringVarP(&h.Dir, "workspace", "w", "", cmp.Or(h.DirUsage, "work in `DIR`"))
	set.StringVar(&h.ConversationID, "conversation-id", "", cmp.Or(h.ConversationUsage, "the conversation with this `ID` calls"))
}

// Context returns the context of a call, as far as the host knows it: the conversation and the directory of its flags.
func (h *Host) Context() contract.Context {
	return contract.Context{ConversationID: h.ConversationID, Dir: h.Dir}
}

// AddTo defines the flag in a set.
func (f Flag) AddTo(set *pflag.FlagSet) {
	flag := set.VarPF(&flagValue{flag: f}, f.Name, f.Shorthand, f.Usage)
	if f.Switch {
		flag.NoOptDefVal = "true"
	}
}

// Word returns the flag as it is written, in its short form if it has one.
func (f Flag) Word() string {
	if f.Shorthand != "" {
		return "-" + f.Shorthand
	}
	return "--" + f.Name
}

// AddToCommand defines the flag for a command, with its completion.
func (f Flag) AddToCommand(cmd *cobra.Command) {
	f.AddTo(cmd.Flags())
	if f.Complete != nil {
		_ = cmd.RegisterFlagCompletionFunc(f.Name, func(cmd *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return completions(f.Complete(cmd.Context(), word))
		}) // fails only for a flag that is not there
	}
}

// AddFlags defines the flags of all families for a command that calls tools.
func (r *Registry) AddFlags(cmd *cobra.Command) {
	for _, f := range r.Flags() {
		f.AddToCommand(cmd)
	}
}

// CheckFlags returns the first error of the families' flags that are given in set, or nil. tool is the name of the tool
// that is called, or empty. A flag that this tool ignores is an [*IgnoredFlagError].
func (r *Registry) CheckFlags(set *pflag.FlagSet, tool string) error {
	for _, f := range r.Flags() {
		if isGiven := set.Changed(f.Name); !isGiven {
			continue
		}
		if tool != "" && !slices.Contains(f.Tools, tool) {
			return &IgnoredFlagError{Flag: f, Tool: tool}
		}
		if f.Check == nil {
			continue
		}
		if err := f.Check(); err != nil {
			return err
		}
	}
	return nil
}

// Given returns the flags of families that were given in set, as words of a command line.
func (r *Registry) Given(set *pflag.FlagSet) []string {
	var words []string
	for _, f := range r.Flags() {
		words = append(words, f.given(set)...)
	}
	return words
}

// Advice returns what a person has to do, besides registering, because of the flags in set. jp is true for JP.
func (r *Registry) Advice(set *pflag.FlagSet, jp bool) []string {
	var advice []string
	for _, f := range r.Flags() {
		if f.Advice != nil && len(f.given(set)) > 0 {
			advice = append(advice, f.Advice(jp)...)
		}
	}
	return advice
}

// given returns the words of a command line that set the flag to its values in set. It returns no words if the flag is
// not in set or not given, or if it is a switch whose last value is false.
func (f Flag) given(set *pflag.FlagSet) []string {
	var words []string
	flag := set.Lookup(f.Name)
	if flag == nil {
		return nil
	}
	v, ok := flag.Value.(*flagValue)
	if !ok || len(v.given) == 0 {
		return nil
	}
	if f.Switch {
		if last := v.given[len(v.given)-1]; last == "true" {
			return []string{f.Word()}
		}
		return nil
	}
	for _, value := range v.given {
		words = append(words, f.Word(), value)
	}
	return words
}

// IgnoredFlagError is the error for a flag that the called tool ignores.
type IgnoredFlagError struct {
	Flag Flag
	Tool string
}

func (e *IgnoredFlagError) Error() string {
	return fmt.Sprintf("--%s only counts for %s", e.Flag.Name, strings.Join(e.Flag.Tools, ", "))
}

// completions returns values as completions, made safe to show: values may be names of files. If a value ends with a
// slash, the shell adds no space, because more may follow.
func completions(values []string) (words []cobra.Completion, directive cobra.ShellCompDirective) {
	directive = cobra.ShellCompDirectiveNoFileComp
	for _, value := range values {
		words = append(words, text.Line(value))
		if strings.HasSuffix(value, "/") {
			directive |= cobra.ShellCompDirectiveNoSpace
		}
	}
	return words, directive
}

// flagValue implements [pflag.Value].
type flagValue struct {
	flag  Flag
	given []string
}

// Set records the value of the flag on the command line, and passes it to the family's Set. A switch is true or false.
func (v *flagValue) Set(value string) error {
	if v.flag.Switch {
		on, err := strconv.ParseBool(value)
		if err != nil {
			return err
		}
		value = strconv.FormatBool(on)
	}
	v.given = append(v.given, value)
	return v.flag.Set(value)
}

// String returns all values.
func (v *flagValue) String() string { return strings.Join(v.given, ",") }

// Type returns the name that cobra knows for a switch or for a flag that may be repeated.
func (v *flagValue) Type() string {
	if v.flag.Switch {
		return "bool"
	}
	return "stringArray"
}
