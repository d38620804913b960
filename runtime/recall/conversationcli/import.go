package conversationcli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store/archive"
	"github.com/convtools/convtools/runtime/store/archive/exports"
	"github.com/convtools/convtools/runtime/store/copies"
	"github.com/convtools/convtools/runtime/store/postgres"
	"github.com/convtools/convtools/runtime/toolset"
	"github.com/convtools/convtools/runtime/transcript"
)

// importing is the command line of import.
type importing struct {
	commands
	kind         string
	stores       []string // of --store
	dryRun       bool
	isRecognised bool // a path had a conversation or is a store that is read in place, or a kind of store was copied
	isDamaged    bool // an export has a wrong checksum
}

// Import returns the command "import", which adds the exports of other programs to the archive, or copies of what they
// have recorded. An argument that is a path and the name of a program is read as the path.
func Import(host *toolset.Host) *cobra.Command {
	c := &importing{commands: commands{host: host}}
	cmd := c.newCommand("import PATH|STORE...", "", "Add exports, or what a program recorded, to your archive",
		`Adds the conversations in exports to your archive, where conversation_search
finds them. An export is that of ChatGPT or Claude.ai (the zip file, an unpacked
folder or a file in it), or an agent file of Letta. An export imported again
adds what has changed. A JP workspace, or a database made from a ChatGPT export,
is not copied: it is searched where it is.

STORE is a program as convtools stores names it, such as claude-code: its
conversations of all projects are copied, for good, and stay with their projects
once the program has deleted its own. A path of that name wins.

The archive is in ~/.local/share/convtools, and nothing leaves this machine; if
CONVERSATION_DB is the URL of a PostgreSQL database, exports are there.`,
		"import ~/Downloads/chatgpt-export.zip", "import --dry-run ~/Downloads/claude-export", "import claude-code codex")
	anyOf(cmd, cmd.Flags(), "store", "", "copy what this `program` recorded; repeatable", conversations.Keepable(), func(name string) {
		c.stores = append(c.stores, name)
	})
	oneOf(cmd, &c.kind, "kind", "", "take only conversations of this `KIND` of export", exports.Kinds()...)
	cmd.Flags().BoolVarP(&c.dryRun, "dry-run", "n", false, "show what would be added, and write nothing")
	c.addJSON(cmd, "json-pretty")
	return c.command(cmd, c.run)
}

// run copies the stores that flags or arguments name, and imports the other arguments. An existing path names no store.
func (c *importing) run(ctx context.Context, paths []string) (err error) {
	paths = slices.DeleteFunc(paths, func(path string) bool {
		_, err := os.Lstat(path)
		isStore := errors.Is(err, fs.ErrNotExist) && slices.Contains(conversations.Keepable(), path)
		if isStore {
			c.stores = append(c.stores, path)
		}
		return isStore
	})
	if len(paths)+len(c.stores) == 0 {
		return cli.Usagef("import needs a PATH: a zip, a folder or a file of an export; or a STORE, such as claude-code")
	}
	for _, name := range c.stores {
		if err := c.copyStore(ctx, name); err != nil {
			return err
		}
	}
	if len(paths) == 0 {
		return nil
	}
	w, err := c.archive(ctx, c.dryRun)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	for _, path := range paths {
		if store := readInPlace(path); store != "" {
			err = c.register(ctx, path, store)
		} else {
			err = c.importOne(ctx, path, w, len(paths) == 1)
		}
		if err = cmp.Or(err, c.out.flush()); err != nil {
			return err
		}
	}
	if !c.isRecognised {
		return failed("see convtools import --help for what can be imported", "no conversation was recognised")
	}
	return foundAny(!c.isDamaged)
}

// copyStore copies the conversations of a kind of store to the archive, and writes how many were new, updated and so on.
func (c *importing) copyStore(ctx context.Context, name string) error {
	show := newProgress(c.host.Stderr, c.host.Now)
	kept, err := c.options().Keep(ctx, name, c.dryRun, func(done, all int) {
		show(fmt.Sprintf("%d of %d conversations of %s", done, all, name))
	})
	show("")
	if err != nil {
		return err
	}
	c.isRecognised = true
	c.warnOf(kept.Problems)
	forgotten := either(kept.Forgotten == 0, "", fmt.Sprintf(", forgotten %d", kept.Forgotten))
	c.out.add(fmt.Sprintf("%s: new %d, updated %d, unchanged %d%s, failed %d%s\n", name, kept.New, kept.Updated, kept.Unchanged, forgotten,
		len(kept.Problems), either(c.dryRun, " (nothing was written)", "")),
		object{"store", name, "new", kept.New, "updated", kept.Updated, "unchanged", kept.Unchanged, "forgotten", kept.Forgotten, "failed", len(kept.Problems)})
	return c.out.flush()
}

// archive opens the user's archive for writing: the database of CONVERSATION_DB, or else the folder. The writer refuses
// forgotten conversations. If dry is set, it writes nothing.
func (c *commands) archive(ctx context.Context, dry bool) (w *archive.Writer, err error) {
	forgotten, err := copies.ReadForgotten(c.host.Getenv)
	if err != nil {
		return nil, err
	}
	dir := archive.Home(c.host.Getenv)
	switch url := postgres.URL(c.host.Getenv); {
	case url != "":
		w, err = postgres.Create(ctx, url, dry)
	case dir == "":
		err = failed("set HOME", "it is not known where your archive is: there is no home directory")
	default:
		w, err = archive.Create(ctx, dir, dry)
	}
	if err == nil {
		w.Forgotten = func(id transcript.ID) bool { return forgotten[id] }
	}
	return w, err
}

// importOne imports a path and writes the report. A path that is no export is an error if it is the only path and the
// output is text; otherwise it is a warning, or an error in the JSON report. Any other failure is an error.
func (c *importing) importOne(ctx context.Context, path string, w *archive.Writer, isOnly bool) error {
	show := newProgress(c.host.Stderr, c.host.Now)
	report, err := exports.Import(ctx, path, w, exports.Options{Kind: c.kind, Progress: func(at exports.Progress) {
		show(fmt.Sprintf("%d of %d MB, %d conversations", at.Done>>20, at.Total>>20, at.Conversations))
	}})
	show("")
	c.isRecognised = c.isRecognised || report.Recognised() > 0
	for _, p := range report.Problems {
		c.isDamaged = c.isDamaged || errors.Is(p.Err, exports.ErrChecksum)
	}
	if c.out.json || err == nil || report.Recognised()+report.Failed > 0 {
		c.out.add(c.summary(path, report), reportObject(path, report, "", err))
	}
	_, isUnrecognised := errors.AsType[*exports.UnrecognisedError](err)
	isWarning := isUnrecognised && (!isOnly || c.out.json)
	switch {
	case ctx.Err() != nil:
		return failed("import it again to go on: what is there already costs little", "interrupted: what was imported up to here is kept")
	case err != nil && !isWarning:
		return cli.Hint(err, "see "+c.host.Name+" import --help for what can be imported")
	case err != nil && !c.out.json: // the report in JSON has the error
		c.warn("%v", err)
	}
	return nil
}

// readInPlace returns the store that reads a path in place: jp a workspace, chatgpt an SQLite database; otherwise "".
func readInPlace(path string) string {
	if info, err := os.Stat(filepath.Join(path, ".jp")); err == nil && info.IsDir() {
		return "jp"
	}
	f, _, err := safefile.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	const head = "SQLite format 3\x00"
	begin := make([]byte, len(head))
	_, err = f.ReadAt(begin, 0)
	return either(err == nil && string(begin) == head, "chatgpt", "")
}

// register adds a path that a store reads in place to the configuration, except in a dry run, and writes the result.
func (c *importing) register(ctx context.Context, path, store string) (err error) {
	o := conversations.Options{Dir: path, Getenv: c.host.Getenv}
	file, result := "", "it is known already" // file is the configuration if the path was added
	switch {
	case c.dryRun:
		result = "nothing was written"
	case store == "jp":
		_, file, err = o.Register()
	default:
		file, err = o.RegisterDatabase(ctx, path)
	}
	if err != nil {
		return err
	}
	if file != "" {
		result = "it was added to directories." + store + " in [stores] of " + file
	}
	c.isRecognised = true
	kind := either(store == "jp", "a JP workspace", "a database of a ChatGPT export")
	c.out.add(fmt.Sprintf("%s: %s, which is read in place: %s\n", text.Cell(filepath.Base(path)), kind, result),
		reportObject(path, &exports.Report{Kinds: []string{store}}, file, nil))
	return nil
}

// reportObject returns the report of a path as JSON has it. registered is the configuration file to which the path was
// added, if a store reads it in place; empty for none.
func reportObject(path string, report *exports.Report, registered string, err error) object {
	problems := objects(report.Problems, func(p *exports.Problem) object {
		o := object{"file", p.File, "offset", p.Offset}.with("number", p.Number).with("id", p.ID).with("title", p.Title)
		return append(o, "skipped", p.Skipped, "reason", p.Err)
	})
	return object{
		"path", path, "kinds", report.Kinds, "new", report.New, "updated", report.Updated,
		"unchanged", report.Unchanged, "skipped", report.Skipped, "failed", report.Failed, "problems", problems,
	}.with("registered", registered).with("error", err)
}

// Limits of the problems of an export that people are shown.
const (
	maxImportProblems = 20
	maxImportTitle    = 60 // characters
)

// summary returns the report of an export for people.
func (c *importing) summary(path string, r *exports.Report) string {
	lines := fmt.Sprintf("%s: new %d, updated %d, unchanged %d, skipped %d, failed %d%s\n", text.Cell(filepath.Base(path)),
		r.New, r.Updated, r.Unchanged, r.Skipped, r.Failed, either(c.dryRun, " (nothing was written)", ""))
	for i, p := range r.Problems {
		if i == maxImportProblems {
			return lines + fmt.Sprintf("  … %d more; --json shows all\n", len(r.Problems)-i)
		}
		place := text.Cell(p.File)
		if p.Number > 0 {
			place += fmt.Sprintf(", conversation %d at byte %d", p.Number, p.Offset)
		}
		if p.Title != "" {
			place += " (" + text.Cut(text.Cell(p.Title), maxImportTitle) + ")"
		}
		lines += fmt.Sprintf("  %s: %s: %s\n", either(p.Skipped, "skipped", "failed"), place, text.Line(p.Err.Error()))
	}
	return lines
}
