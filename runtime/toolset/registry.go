package toolset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/convtools/convtools/runtime/contract"
)

// Registry holds the families of a program. It is safe for concurrent use if its families are.
type Registry struct {
	families []Family
}

// NewRegistry returns a registry of families. It is an error if two of them have the same name of a family, tool, flag,
// prompt or page, or the same scheme of resources, or if a flag has the name of a flag of [Host].
func NewRegistry(families ...Family) (*Registry, error) {
	owners := map[string]string{} // by kind and name
	var clashes []error
	claim := func(owner, kind, name string) {
		if other, taken := owners[kind+name]; taken {
			clashes = append(clashes, fmt.Errorf("%s and %s both have the %s %s", other, owner, kind, name))
		}
		owners[kind+name] = owner
	}
	claimFlag := func(owner, name, shorthand string) {
		claim(owner, "flag", "--"+name)
		if shorthand != "" {
			claim(owner, "flag", "-"+shorthand)
		}
	}
	hostFlags := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(Host).AddFlags(hostFlags)
	hostFlags.VisitAll(func(f *pflag.Flag) { claimFlag("the host", f.Name, f.Shorthand) })
	for _, f := range families {
		owner := "the family " + f.Name
		claim(owner, "family", f.Name)
		for _, t := range f.Declared() {
			for _, name := range append([]string{t.Name}, t.Aliases...) {
				claim(owner, "tool", name)
			}
		}
		for _, flag := range f.Flags {
			claimFlag(owner, flag.Name, flag.Shorthand)
		}
		for _, p := range f.Prompts {
			claim(owner, "prompt", p.Name)
		}
		for _, p := range f.Pages {
			claim(owner, "page", p.Name)
		}
		for _, r := range f.Resources {
			scheme, _, _ := strings.Cut(r.Template, ":")
			claim(owner, "scheme", scheme)
		}
	}
	if err := errors.Join(clashes...); err != nil {
		return nil, fmt.Errorf("putting families together: %w", err)
	}
	return &Registry{families: families}, nil
}

// Only returns a registry with the named tools and no others. A family that loses a tool also loses its instructions,
// prompts and resources, which are about all tools. For an unknown name the error is a [contract.Error] with all names.
func (r *Registry) Only(names ...string) (*Registry, error) {
	isNamed := map[string]bool{}
	for _, name := range names { // a name or an alias
		t, _, err := r.Lookup(name)
		if err != nil {
			return nil, err
		}
		isNamed[t.Name] = true
	}
	named := func(tools []contract.Tool) []contract.Tool {
		return slices.DeleteFunc(slices.Clone(tools), func(t contract.Tool) bool { return !isNamed[t.Name] })
	}
	result := &Registry{}
	for _, f := range r.families { // f is a copy
		all := f.Declared()
		declared := named(all)
		if len(declared) == 0 {
			continue
		}
		if len(declared) < len(all) {
			f.Instructions, f.Prompt, f.Closing, f.Prompts, f.Resources = nil, nil, nil, nil, nil
		}
		f.Declared = func() []contract.Tool { return declared }
		if offered := f.Offered; offered != nil {
			f.Offered = func(ctx context.Context) []contract.Tool { return named(offered(ctx)) }
		}
		result.families = append(result.families, f)
	}
	return result, nil
}

// Families returns the families in their order.
func (r *Registry) Families() []Family { return r.families }

// Declared returns all tools, sorted by name.
func (r *Registry) Declared() []contract.Tool {
	return byName(collect(r, func(f *Family) []contract.Tool { return f.Declared() }))
}

// collect calls list for each family and returns all results in one list.
func collect[T any](r *Registry, list func(*Family) []T) []T {
	var all []T
	for i := range r.families {
		all = append(all, list(&r.families[i])...)
	}
	return all
}

// Offered returns the tools that an assistant is offered now, sorted by name.
func (r *Registry) Offered(ctx context.Context) []contract.Tool {
	return byName(collect(r, func(f *Family) []contract.Tool {
		if f.Offered == nil {
			return f.Declared()
		}
		return f.Offered(ctx)
	}))
}

// byName sorts tools by name and returns them.
func byName(tools []contract.Tool) []contract.Tool {
	slices.SortFunc(tools, func(a, b contract.Tool) int { return cmp.Compare(a.Name, b.Name) })
	return tools
}

// Lookup returns the tool with a name or an alias, and its family, offered or not. The error for an unknown name is a
// [contract.Error] that lists the tools.
func (r *Registry) Lookup(name string) (contract.Tool, Family, error) {
	for _, f := range r.families {
		for _, t := range f.Declared() {
			if t.AnswersTo(name) {
				return t, f, nil
			}
		}
	}
	return contract.Tool{}, Family{}, contract.UnknownTool(name, r.Names())
}

// Names returns the names of all tools, sorted.
func (r *Registry) Names() []string {
	var names []string
	for _, t := range r.Declared() {
		names = append(names, t.Name)
	}
	return names
}

// Background starts the background work of all families. stop cancels it and waits for its end.
func (r *Registry) Background(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	for _, f := range r.families {
		if f.Background != nil {
			wg.Go(func() { f.Background(ctx) })
		}
	}
	return func() {
		cancel()
		wg.Wait()
	}
}

// Call runs the tool that a call names, of any family. The error is that of [Registry.Lookup] or of the tool.
func (r *Registry) Call(ctx context.Context, call contract.Call) (string, error) {
	_, f, err := r.Lookup(call.Tool)
	if err != nil {
		return "", err
	}
	return f.Call(ctx, call)
}

// Changes reports whether what families offer may change while a program runs.
func (r *Registry) Changes() bool {
	return slices.ContainsFunc(r.families, func(f Family) bool { return f.Version != nil })
}

// Version returns a value that changes when the offered tools, or the resources, may have changed.
func (r *Registry) Version(ctx context.Context) string {
	var b strings.Builder
	for _, f := range r.families {
		if f.Version != nil {
			fmt.Fprintf(&b, "%q", f.Version(ctx))
		}
	}
	return b.String()
}

// ListVersion returns a value that changes when the list of resources may have changed.
func (r *Registry) ListVersion(ctx context.Context) string {
	var b strings.Builder
	for _, f := range r.families {
		for _, resources := range f.Resources {
			version := resources.Version
			if version == nil {
				version = f.Version
			}
			if resources.List != nil && version != nil {
				fmt.Fprintf(&b, "%q", version(ctx))
			}
		}
	}
	return b.String()
}

// Instructions returns the texts of all families for a host's system prompt, in paragraphs; the closing texts are last.
func (r *Registry) Instructions(ctx context.Context, callContext contract.Context) string {
	return r.instructions(ctx, callContext, false)
}

// Prompt returns Instructions and the longer texts, for a system prompt that this program writes itself.
func (r *Registry) Prompt(ctx context.Context, callContext contract.Context) string {
	return r.instructions(ctx, callContext, true)
}

// instructions returns the families' instructions, prompts if withPrompts is true, and, last, closing texts.
func (r *Registry) instructions(ctx context.Context, callContext contract.Context, withPrompts bool) string {
	type writeText = func(context.Context, contract.Context) string
	var writers, closings []writeText // an element is nil if the family does not have the text
	for _, f := range r.families {
		writers = append(writers, f.Instructions)
		if withPrompts {
			writers = append(writers, f.Prompt)
		}
		closings = append(closings, f.Closing)
	}
	var texts []string
	for _, write := range append(writers, closings...) {
		if write == nil {
			continue
		}
		if text := write(ctx, callContext); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// Reads returns which data of the user the tools will read, a sentence each.
func (r *Registry) Reads(ctx context.Context) []string {
	var reads []string
	for _, f := range r.families {
		if f.Reads == nil {
			continue
		}
		if sentence := f.Reads(ctx); sentence != "" {
			reads = append(reads, sentence)
		}
	}
	return reads
}

// Variables returns [Family.Variables] of all families.
func (r *Registry) Variables() []string {
	return collect(r, func(f *Family) []string { return f.Variables })
}

// Flags returns the flags of all families.
func (r *Registry) Flags() []Flag { return collect(r, func(f *Family) []Flag { return f.Flags }) }

// Prompts returns the prompts of all families.
func (r *Registry) Prompts() []Prompt {
	return collect(r, func(f *Family) []Prompt { return f.Prompts })
}

// Resources returns the kinds of resources of all families.
func (r *Registry) Resources() []Resources {
	return collect(r, func(f *Family) []Resources { return f.Resources })
}

// Project returns the root of the project that a directory belongs to, from the first family that knows the project. If
// no family knows the project, the error is that of the first family with projects.
func (r *Registry) Project(dir string) (root string, err error) {
	var firstErr error
	for _, f := range r.families {
		if f.Project == nil {
			continue
		}
		root, err := f.Project(dir)
		if err == nil {
			return root, nil
		}
		firstErr = cmp.Or(firstErr, err)
	}
	return "", cmp.Or(firstErr, errors.New("no tool works on projects"))
}

// CheckConversationID returns the first error of a family about an id of the calling conversation, or nil.
func (r *Registry) CheckConversationID(id string) error {
	for _, f := range r.families {
		if f.CheckConversationID == nil {
			continue
		}
		if err := f.CheckConversationID(id); err != nil {
			return err
		}
	}
	return nil
}

// Commands returns the commands of all families.
func (r *Registry) Commands() []*cobra.Command {
	return collect(r, func(f *Family) []*cobra.Command {
		if f.Commands == nil {
			return nil
		}
		return f.Commands()
	})
}

// Close stops what calls have left running.
func (r *Registry) Close() {
	for _, f := range r.families {
		if f.Close != nil {
			f.Close()
		}
	}
}

// Examples returns calls for people to try.
func (r *Registry) Examples() []string {
	return collect(r, func(f *Family) []string { return f.Examples })
}
