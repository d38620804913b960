package conversationcli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/near"
	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store/archive"
	"github.com/convtools/convtools/runtime/store/archive/exports"
	"github.com/convtools/convtools/runtime/store/postgres"
	"github.com/convtools/convtools/runtime/toolset"
)

// Import returns the command "import": what other programs export of their conversations
// is added to the archive.
func Import(host *toolset.Host) *cobra.Command {
	c := &commands{host: host}
	var o importOptions
	cmd := &cobra.Command{
		Use:   "import PATH...",
		Short: "Add exports of ChatGPT, Claude.ai or Letta to your archive",
		Long: cli.Fill(`Adds the conversations of exports to your archive, where conversation_search finds them:
of ChatGPT and Claude.ai (the zip, a folder or a file of it), and Letta's agent files. What a PATH is shows its content.
Imported again, only what has changed is written; what is not in the export any more is kept. A JP workspace, or a
database that was made of a ChatGPT export, is not copied: it is added to those that are searched. Agents' own sessions are read in place, without importing them.
What was imported is in ~/.local/share/convtools, and nothing leaves this machine; where CONVERSATION_DB is the
URL of a PostgreSQL database, postgres://…, it is there.`),
		Example: "  convtools import ~/Downloads/chatgpt-export.zip\n  convtools import --dry-run ~/Downloads/claude-export",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("import needs a PATH: a zip, a folder or a file of an export")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.importAll(cmd.Context(), args, o)
		},
	}
	cmd.Flags().StringVar(&o.kind, "kind", "", "take only conversations of this `KIND` of export: "+strings.Join(exports.Kinds(), ", "))
	cmd.Flags().BoolVarP(&o.dryRun, "dry-run", "n", false, "show what would be added, and write nothing")
	cmd.Flags().BoolVar(&o.json, "json", false, "print what has become of each export as JSON")
	return cli.RareCommand(cmd)
}

type importOptions struct {
	kind         string
	dryRun, json bool
}

func (c *commands) importAll(ctx context.Context, paths []string, o importOptions) (err error) {
	if known := exports.Kinds(); o.kind != "" && !slices.Contains(known, o.kind) {
		hint := "the kinds are " + strings.Join(known, ", ")
		if like := near.Name(o.kind, known); like != "" {
			hint = "did you mean " + like + "?"
		}
		return usageError(hint, "there is no kind of export called %q", o.kind)
	}
	// What large conversations leave behind is collected before it adds up.
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(importMemory))
	w, err := c.archive(ctx, o.dryRun)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	out := c.newResults(format{json: o.json, pretty: o.json})
	recognised, damaged := false, false
	for _, path := range paths {
		if kind := registered(path); kind != nil {
			if err := c.register(ctx, out, kind, path, o.dryRun); err != nil {
				return err
			}
			recognised = true
			continue
		}
		report, err := c.importOne(ctx, path, w, o)
		recognised = recognised || report.Recognised() > 0
		damaged = damaged || slices.ContainsFunc(report.Problems, func(p exports.Problem) bool { return errors.Is(p.Err, exports.ErrChecksum) })
		// What is no export leaves the others as they are; what else fails would fail again.
		var unrecognised *exports.UnrecognisedError
		var unread *exports.InputError
		isOther := errors.As(err, &unrecognised) || errors.As(err, &unread)
		isKnown := unrecognised != nil && unrecognised.Reason != ""
		if o.json || (err == nil || report.Recognised()+report.Failed > 0) && !isKnown {
			out.add(imported(path, report, o.dryRun), importedObject(path, report, "", err))
			if err := out.show(); err != nil {
				return err
			}
		}
		switch {
		case ctx.Err() != nil:
			return failedHint("import it again to go on: what is there already costs little", "interrupted: what was imported up to here is kept")
		case err != nil && (!isOther || len(paths) == 1 && !o.json):
			return cli.Hint(err, "see "+c.host.Name+" import --help for what can be imported")
		case err != nil && !o.json:
			cli.Warn(c.host.Stderr, "%v", err)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := out.close(); err != nil {
		return err
	}
	if !recognised {
		return failedHint("see convtools import --help for what can be imported", "no conversation was recognised")
	}
	if damaged {
		return cli.ErrFailed // which was printed
	}
	return nil
}

// importMemory is how much memory the runtime of Go uses before it works harder to use less,
// in bytes; the largest conversation that is imported needs about as much.
const importMemory = 160 << 20

// writer is an archive that is written, and closed then.
type writer interface {
	exports.Archive
	Close() error
}

// archive opens the archive for writing, where the environment has it.
func (c *commands) archive(ctx context.Context, dryRun bool) (writer, error) {
	if url := postgres.URL(c.host.Getenv); url != "" {
		return postgres.Create(ctx, postgres.WriterOptions{URL: url, DryRun: dryRun, Now: c.host.Now})
	}
	dir := archive.Home(c.host.Getenv)
	if dir == "" {
		return nil, failedHint("set HOME", "it is not known where your archive is: there is no home directory")
	}
	return archive.Create(ctx, archive.WriterOptions{Dir: dir, DryRun: dryRun, Now: c.host.Now})
}

// importOne imports a path, with a line on stderr about how far that is where it takes
// long.
func (c *commands) importOne(ctx context.Context, path string, w exports.Archive, o importOptions) (*exports.Report, error) {
	bar := newProgress(c.host.Stderr, c.host.Now)
	defer bar.clear()
	report, err := exports.Import(ctx, path, w, exports.Options{Kind: o.kind, Progress: bar.imported})
	var unrecognised *exports.UnrecognisedError
	if info, statErr := os.Stat(path); errors.As(err, &unrecognised) && statErr == nil && info.IsDir() {
		if program := conversations.ProgramAt(path, c.host.Getenv); program != "" {
			unrecognised.Reason = fmt.Sprintf("%s keeps its sessions there, which are read in place: see %s stores", program, c.host.Name)
		}
	}
	return report, err
}

// inPlace is a kind of path that is read in place, from everywhere.
type inPlace struct {
	store, name string
	register    func(ctx context.Context, o conversations.Options, path string) (file string, err error)
}

// registered returns the kind of a path that is read in place, or nil.
func registered(path string) *inPlace {
	if info, err := os.Stat(filepath.Join(path, ".jp")); err == nil && info.IsDir() {
		return &inPlace{"jp", "a JP workspace", func(_ context.Context, o conversations.Options, dir string) (string, error) {
			o.Dir = dir
			_, file, err := conversations.Register(o)
			return file, err
		}}
	}
	if isDatabase(path) {
		return &inPlace{"chatgpt", "a database of a ChatGPT export", conversations.RegisterDatabase}
	}
	return nil
}

// isDatabase reports whether a file is one of SQLite.
func isDatabase(path string) bool {
	const head = "SQLite format 3\x00"
	f, _, err := safefile.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	begin := make([]byte, len(head))
	_, err = f.ReadAt(begin, 0)
	return err == nil && string(begin) == head
}

// register has a path read in place.
func (c *commands) register(ctx context.Context, out *results, kind *inPlace, path string, dryRun bool) error {
	file, said := "", "nothing was written"
	if !dryRun {
		var err error
		if file, err = kind.register(ctx, conversations.Options{Getenv: c.host.Getenv}, path); err != nil {
			return err
		}
		said = "it is known already"
	}
	if file != "" {
		said = "it was added to directories." + kind.store + " in [stores] of " + file
	}
	out.add(fmt.Sprintf("%s: %s, which is read in place: %s\n", text.Cell(filepath.Base(path)), kind.name, said),
		importedObject(path, &exports.Report{Kinds: []string{kind.store}}, file, nil))
	return out.show()
}

// imported is what has become of an export. A JP workspace, or a database, was
// registered in a file instead.
func importedObject(path string, report *exports.Report, registered string, err error) object {
	problems := objects(report.Problems, func(p exports.Problem) object {
		o := object{"file", p.File, "offset", p.Offset}
		if p.Number > 0 {
			o = append(o, "number", p.Number)
		}
		return slices.Concat(o, given("id", string(p.ID)), given("title", p.Title), object{"skipped", p.Skipped, "reason", p.Err})
	})
	o := object{
		"path", path, "kinds", report.Kinds, "new", report.New, "updated", report.Updated,
		"unchanged", report.Unchanged, "skipped", report.Skipped, "failed", report.Failed, "problems", problems,
	}
	o = append(o, given("registered", registered)...)
	if err != nil {
		o = append(o, "error", err)
	}
	return o
}

// How many problems of an export are shown to people, and how many characters of a
// title.
const (
	maxImportProblems = 20
	maxImportTitle    = 60
)

// imported is what has become of an export, for people.
func imported(path string, report *exports.Report, dryRun bool) string {
	var b strings.Builder
	would := ""
	if dryRun {
		would = " (nothing was written)"
	}
	fmt.Fprintf(&b, "%s: new %d, updated %d, unchanged %d, skipped %d, failed %d%s\n",
		text.Cell(filepath.Base(path)), report.New, report.Updated, report.Unchanged, report.Skipped, report.Failed, would)
	for i, p := range report.Problems {
		if i == maxImportProblems {
			fmt.Fprintf(&b, "  … %d more; --json shows all\n", len(report.Problems)-i)
			break
		}
		what, place := "failed", text.Cell(p.File)
		if p.Skipped {
			what = "skipped"
		}
		if p.Number > 0 {
			place += fmt.Sprintf(", conversation %d at byte %d", p.Number, p.Offset)
		}
		if p.Title != "" {
			place += " (" + text.Cut(text.Cell(p.Title), maxImportTitle) + ")"
		}
		fmt.Fprintf(&b, "  %s: %s: %s\n", what, place, text.Line(p.Err.Error()))
	}
	return b.String()
}
