package knowledgecli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/knowledge"
	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

func (c *commands) create() *cobra.Command {
	return &cobra.Command{
		Use:   "new TOPIC/SLUG [-]",
		Short: "Create a subject",
		Long: `Creates the file of a subject in the directory of its topic, with a title made
of its name, or, with "-", with what standard input has to say. It is a Markdown
file unless the slug ends in another extension; NAME/SKILL is a skill, which
has front matter, too. A file that exists is never touched.`,
		Example: `  convtools knowledge new project/release-process
  git log -5 | convtools knowledge new project/recent-changes.txt -`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: c.completeSubject,
		RunE: func(cmd *cobra.Command, args []string) error {
			fromInput := len(args) == 2 && args[1] == "-"
			if len(args) != 1 && !fromInput {
				return cli.Usagef("new takes TOPIC/SLUG, and \"-\" to read standard input, and got %d arguments", len(args))
			}
			topic, slug, err := subjectArgs(cmd, args[:1])
			if err != nil {
				return err
			}
			file, err := newSubjectPath(slug)
			if err != nil {
				return cli.Usage(err)
			}
			content := templateOf(file)
			if fromInput {
				if content, err = c.newContent(); err != nil {
					return err
				}
			}
			return c.createFile(cmd, topic, file, content)
		},
	}
}

// createFile creates the file of a subject, and prints the name of the subject.
func (c *commands) createFile(cmd *cobra.Command, id, file, content string) error {
	b, err := c.open()
	if err != nil {
		return err
	}
	topic, err := b.Topic(cmd.Context(), id)
	if err != nil {
		return err
	}
	if topic.Disabled {
		return fmt.Errorf("topic %s is disabled: remove enable = false from it first", topic.ID)
	}
	name := path.Join(topic.Dir, file)
	switch err := create(b, topic, file, content); {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s exists already and was not touched", name)
	case err != nil:
		return fmt.Errorf("creating %s: %w", name, err)
	}
	if topic, err = b.Topic(cmd.Context(), topic.ID); err != nil {
		return err
	}
	c.sayCreated(topic, file)
	return nil
}

// newSubjectPath returns the path of the file for a slug, relative to the directory of its topic and with slashes.
// Every file system takes it, and it does not look like a pattern.
func newSubjectPath(slug string) (string, error) {
	why := ""
	switch {
	case !utf8.ValidString(slug) || strings.ContainsFunc(slug, func(r rune) bool { return !unicode.IsPrint(r) }):
		why = "it has characters that cannot be printed"
	case strings.ContainsAny(slug, `\:*?"<>|[]{}`):
		why = `leave out \ : * ? " < > | [ ] { }; folders are separated by slashes`
	case slices.ContainsFunc(strings.Split(slug, "/"), func(part string) bool {
		return part == "" || strings.TrimSpace(part) != part || strings.HasSuffix(part, ".")
	}):
		why = `no part of it may be empty, "." or "..", begin or end with a blank, or end with a dot`
	}
	if ext := strings.TrimPrefix(path.Ext(strings.TrimLeft(path.Base(slug), ".")), "."); strings.Trim(ext, "0123456789") == "" {
		slug += ".md" // a version number is no extension
	}
	if why == "" && !filepath.IsLocal(filepath.FromSlash(slug)) {
		why = "this system keeps the name for itself"
	}
	if why != "" {
		return "", fmt.Errorf("%s cannot be the name of a subject: %s", text.Quote(slug), why)
	}
	return slug, nil
}

// templateOf returns the content of a new file. A skill has front matter, see https://agentskills.io/specification,
// with an empty description for its author to fill in.
func templateOf(file string) string {
	folder, name := path.Split(file)
	if folder == "" || name != "SKILL.md" {
		return "# " + titleOf(file) + "\n"
	}
	folder = path.Base(folder)
	return "---\nname: \"" + folder + "\"\n# What it does, and when to use it:\ndescription:\n---\n\n# " + titleOf(folder+".md") + "\n"
}

// titleOf returns a heading made of the name of a file.
func titleOf(file string) string {
	name := strings.TrimLeft(path.Base(file), ".")
	name = strings.TrimSuffix(name, path.Ext(name))
	title := strings.Join(strings.Fields(strings.NewReplacer("-", " ", "_", " ").Replace(name)), " ")
	first, size := utf8.DecodeRuneInString(title)
	return string(unicode.ToUpper(first)) + title[size:]
}

// newContent reads the content of a new subject from standard input.
func (c *commands) newContent() (string, error) {
	content, err := io.ReadAll(io.LimitReader(c.host.Stdin, subjects.MaxSize+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("reading standard input: %w", err)
	case len(content) > subjects.MaxSize:
		return "", errors.New("standard input has more than 4 MiB, which is more than can be learned; nothing was created")
	case len(content) == 0:
		return "", errors.New("standard input is empty; nothing was created")
	}
	return string(content), nil
}

// create creates a file that does not exist, with its directories and the directory of the topic. It follows no link
// out of the topic.
func create(b *knowledge.Base, topic knowledge.Topic, file, content string) error {
	root, err := b.OpenDir(topic.ID)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeDir(b.Root(), topic.Dir); err != nil {
			return err
		}
		root, err = b.OpenDir(topic.ID)
	}
	if err != nil {
		return err
	}
	defer root.Close()
	name := filepath.FromSlash(file)
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	if err = errors.Join(err, f.Close()); err != nil {
		// A part of the content would look like all of it.
		return errors.Join(err, root.Remove(name))
	}
	return nil
}

func makeDir(root, path string) error {
	project, err := safefile.OpenDir(root)
	if err != nil {
		return err
	}
	defer project.Close()
	return project.MkdirAll(filepath.FromSlash(path), 0o755)
}

// sayCreated prints the name of the new subject, and its marks: it may be hidden, disabled or a skill.
func (c *commands) sayCreated(topic knowledge.Topic, file string) {
	name := text.Cell(path.Join(topic.Dir, file))
	for _, s := range topic.Subjects {
		if s.Path == file {
			note := ""
			if marks := marks(s); marks != "" {
				note = " (" + marks + ")"
			}
			fmt.Fprintf(c.host.Stdout, "Created %s: subject %q of topic %s%s\n", name, s.Name, topic.ID, note)
			return
		}
	}
	fmt.Fprintf(c.host.Stdout, "Created %s, which is no subject; convtools knowledge check says why\n", name)
}
