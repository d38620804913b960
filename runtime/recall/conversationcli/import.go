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
	c := &importing{commands: commands{host: host}}
	cmd := &cobra.Command{
		Use:   "import PATH...",
		Short: "Add exports of ChatGPT, Claude.ai or Letta to your archive",
		Long: cli.Fill(`Adds the conversations of exports to your archive, where conversation_search finds them:
of ChatGPT and Claude.ai (the zip, a folder or a file of it), and Letta's agent files. Imported again, only what has changed
is written. A JP workspace, or a database that was made of a ChatGPT export, is not copied: it is added to those that are searched.
What was imported is in ~/.local/share/convtools, and nothing leaves this machine; where CONVERSATION_DB is the
URL of a PostgreSQL database, postgres://…, it is there.`),
		Example: "  convtools import ~/Downloads/chatgpt-export.zip\n  convtools import --dry-run ~/Downloads/claude-export",
		RunE:    func(cmd *cobra.Command, args []string) error { return c.importAll(cmd.Context(), args) },
	}
	kinds := exports.Kinds()
	oneOf(cmd, &c.kind, "kind", "", "take only conversations of this `KIND` of export: "+strings.Join(kinds, ", "), kinds...)
	cmd.Flags().BoolVarP(&c.dryRun, "dry-run", "n", false, "show what would be added, and write nothing")
	addJSON(cmd, "print what has become of each export as JSON")
	return c.ready(cmd)
}

// importing is the command "import" being executed.
type importing struct {
	commands
	kind                  string
	dryRun                bool
	isRecognised, isWrong bool // some of what was imported
}

// importMemory is how much memory the runtime of Go uses before it works harder to use
// less, in bytes; the largest conversation that is imported needs about as much.
const importMemory = 160 << 20

func (c *importing) importAll(ctx context.Context, paths []string) (err error) {
	if len(paths) == 0 {
		return cli.Usagef("import needs a PATH: a zip, a folder or a file of an export")
	}
	// What large conversations leave behind is collected before it adds up.
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(importMemory))
	w, err := c.archive(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	for _, path := range paths {
		if store, register := inPlace(path); store != "" {
			err = c.register(ctx, path, store, register)
		} else {
			err = c.importOne(ctx, path, w, len(paths) == 1)
		}
		if err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if !c.isRecognised {
		return failedHint("see convtools import --help for what can be imported", "no conversation was recognised")
	}
	return foundAny(!c.isWrong)
}

// archive opens the archive for writing, where the environment has it.
func (c *importing) archive(ctx context.Context) (*archive.Writer, error) {
	if url := postgres.URL(c.host.Getenv); url != "" {
		return postgres.Create(ctx, postgres.WriterOptions{URL: url, DryRun: c.dryRun, Now: c.host.Now})
	}
	dir := archive.Home(c.host.Getenv)
	if dir == "" {
		return nil, failedHint("set HOME", "it is not known where your archive is: there is no home directory")
	}
	return archive.Create(ctx, archive.WriterOptions{Dir: dir, DryRun: c.dryRun, Now: c.host.Now})
}

// importOne imports a path. What is no export is a warning, unless it is the only path;
// what else fails would fail again for others.
func (c *importing) importOne(ctx context.Context, path string, w *archive.Writer, isOnly bool) error {
	report, err := c.imported(ctx, path, w)
	if report.Recognised() > 0 {
		c.isRecognised = true
	}
	if slices.ContainsFunc(report.Problems, func(p exports.Problem) bool { return errors.Is(p.Err, exports.ErrChecksum) }) {
		c.isWrong = true
	}
	var unrecognised *exports.UnrecognisedError
	var unread *exports.InputError
	isOther := errors.As(err, &unrecognised) || errors.As(err, &unread)
	isKnown := unrecognised != nil && unrecognised.Reason != ""
	isJSON := c.out.format.json
	if isJSON || (err == nil || report.Recognised()+report.Failed > 0) && !isKnown {
		c.out.add(c.summaryOf(path, report), reportObject(path, report, "", err))
		if err := c.out.flush(); err != nil {
			return err
		}
	}
	switch {
	case ctx.Err() != nil:
		return failedHint("import it again to go on: what is there already costs little", "interrupted: what was imported up to here is kept")
	case err != nil && (!isOther || isOnly && !isJSON):
		return cli.Hint(err, "see "+c.host.Name+" import --help for what can be imported")
	case err != nil && !isJSON:
		c.warn("%v", err)
	}
	return nil
}

// imported imports a path, with a line on stderr about how far that is where it takes
// long.
func (c *importing) imported(ctx context.Context, path string, w *archive.Writer) (*exports.Report, error) {
	bar := newProgress(c.host.Stderr, c.host.Now)
	defer bar.clear()
	report, err := exports.Import(ctx, path, w, exports.Options{Kind: c.kind, Progress: func(at exports.Progress) {
		const mega = 1 << 20
		bar.show("%d of %d MB, %d conversations", at.Done/mega, at.Total/mega, at.Conversations)
	}})
	var unrecognised *exports.UnrecognisedError
	if info, statErr := os.Stat(path); errors.As(err, &unrecognised) && statErr == nil && info.IsDir() {
		if program := conversations.ProgramAt(path, c.host.Getenv); program != "" {
			unrecognised.Reason = fmt.Sprintf("%s keeps its sessions there, which are read in place: see %s stores", program, c.host.Name)
		}
	}
	return report, err
}

// registering has a path read in place, from everywhere, and returns the file that says so
// from now on; empty where it is known already.
type registering func(ctx context.Context, o conversations.Options, path string) (file string, err error)

// inPlace returns the store that reads a path in place, and how; "" for other paths.
func inPlace(path string) (store string, register registering) {
	if info, err := os.Stat(filepath.Join(path, ".jp")); err == nil && info.IsDir() {
		return "jp", func(_ context.Context, o conversations.Options, dir string) (string, error) {
			o.Dir = dir
			_, file, err := o.Register()
			return file, err
		}
	}
	const head = "SQLite format 3\x00"
	f, _, err := safefile.Open(path)
	if err != nil {
		return "", nil
	}
	defer f.Close()
	begin := make([]byte, len(head))
	if _, err := f.ReadAt(begin, 0); err != nil || string(begin) != head {
		return "", nil
	}
	return "chatgpt", func(ctx context.Context, o conversations.Options, path string) (string, error) {
		return o.RegisterDatabase(ctx, path)
	}
}

// register has a path read in place.
func (c *importing) register(ctx context.Context, path, store string, register registering) (err error) {
	file, said := "", "nothing was written"
	if !c.dryRun {
		said = "it is known already"
		if file, err = register(ctx, conversations.Options{Getenv: c.host.Getenv}, path); err != nil {
			return err
		}
	}
	if file != "" {
		said = "it was added to directories." + store + " in [stores] of " + file
	}
	c.isRecognised = true
	what := map[string]string{"jp": "a JP workspace", "chatgpt": "a database of a ChatGPT export"}[store]
	c.out.add(fmt.Sprintf("%s: %s, which is read in place: %s\n", text.Cell(filepath.Base(path)), what, said),
		reportObject(path, &exports.Report{Kinds: []string{store}}, file, nil))
	return c.out.flush()
}

// reportObject is what has become of an export. What is read in place was registered in a
// file instead.
func reportObject(path string, report *exports.Report, registered string, err error) object {
	problems := objects(report.Problems, func(p exports.Problem) object {
		return slices.Concat(object{"file", p.File, "offset", p.Offset}, counted("number", p.Number), given("id", string(p.ID)), given("title", p.Title), object{"skipped", p.Skipped, "reason", p.Err})
	})
	o := object{
		"path", path, "kinds", report.Kinds, "new", report.New, "updated", report.Updated,
		"unchanged", report.Unchanged, "skipped", report.Skipped, "failed", report.Failed, "problems", problems,
	}
	if o = append(o, given("registered", registered)...); err != nil {
		o = append(o, "error", err)
	}
	return o
}

// How many problems of an export are shown to people, and how many characters of a title.
const (
	maxImportProblems = 20
	maxImportTitle    = 60
)

// summaryOf is what has become of an export, for people.
func (c *importing) summaryOf(path string, report *exports.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: new %d, updated %d, unchanged %d, skipped %d, failed %d%s\n", text.Cell(filepath.Base(path)),
		report.New, report.Updated, report.Unchanged, report.Skipped, report.Failed, either(c.dryRun, " (nothing was written)", ""))
	for i, p := range report.Problems {
		if i == maxImportProblems {
			fmt.Fprintf(&b, "  … %d more; --json shows all\n", len(report.Problems)-i)
			break
		}
		place := text.Cell(p.File)
		if p.Number > 0 {
			place += fmt.Sprintf(", conversation %d at byte %d", p.Number, p.Offset)
		}
		if p.Title != "" {
			place += " (" + text.Cut(text.Cell(p.Title), maxImportTitle) + ")"
		}
		fmt.Fprintf(&b, "  %s: %s: %s\n", either(p.Skipped, "skipped", "failed"), place, text.Line(p.Err.Error()))
	}
	return b.String()
}
