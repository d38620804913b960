package knowledgecli

import (
	"context"
	"errors"
	"fmt"
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
)

// create returns the command knowledge new.
func (c *commands) create() *cobra.Command {
	return &cobra.Command{
		Use:   "new TOPIC/SLUG",
		Short: "Create a subject",
		Long: `Creates the file of a subject in the directory of its topic, with a title made
of its name. It is a Markdown file unless the slug ends in another extension;
NAME/SKILL is a skill, which has front matter, too. A file that exists is never
touched.`,
		Example:           `  convtools knowledge new project/release-process`,
		Args:              cli.OneArg("TOPIC/SLUG"),
		ValidArgsFunction: c.complete((*knowledge.Base).CompletePath),
		RunE: func(cmd *cobra.Command, args []string) error {
			topic, slug, err := subjectArgs(cmd, args)
			if err != nil {
				return err
			}
			file, err := fileOf(slug)
			if err != nil {
				return cli.Usage(err)
			}
			return c.createSubject(cmd.Context(), topic, file)
		},
	}
}

// createSubject creates a file in the directory of a topic, and prints the path of the file and which subject the file
// is. A disabled topic and an existing file are errors.
func (c *commands) createSubject(ctx context.Context, topicName, file string) error {
	b, err := c.open()
	if err != nil {
		return err
	}
	topic, err := b.Topic(ctx, topicName)
	if err != nil {
		return err
	}
	if topic.Disabled {
		return fmt.Errorf("topic %s is disabled: remove enable = false from it first", topic.ID)
	}
	name := path.Join(topic.Dir, file)
	switch err := createFile(b, topic, file, templateOf(file)); {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s exists already and was not touched", name)
	case err != nil:
		return fmt.Errorf("creating %s: %w", name, err)
	}
	topic, err = b.Topic(ctx, topic.ID) // with the new file
	if err != nil {
		return err
	}
	fmt.Fprintf(c.host.Stdout, "Created %s: %s\n", text.Cell(name), subjectAt(topic, file))
	return nil
}

// subjectAt returns the name and the marks of the subject that a file of a topic is, or says that it is no subject.
func subjectAt(topic knowledge.Topic, file string) string {
	for _, s := range topic.Subjects {
		marks := marksOf(s)
		switch {
		case s.Path == file && marks != "":
			return fmt.Sprintf("subject %q of topic %s (%s)", s.Name, topic.ID, marks)
		case s.Path == file:
			return fmt.Sprintf("subject %q of topic %s", s.Name, topic.ID)
		}
	}
	return "which is no subject; convtools knowledge check says why"
}

// fileOf returns the path of the file for a slug, relative to the directory of the topic and with slashes. It adds
// ".md" if there is no extension. The error is for a path that some file system does not allow, and for a pattern.
func fileOf(slug string) (string, error) {
	isForbidden := func(r rune) bool { return !unicode.IsPrint(r) || strings.ContainsRune(`\:*?"<>|[]{}`, r) }
	isWrongPart := func(part string) bool {
		return part == "" || strings.Trim(part, " ") != part || strings.HasSuffix(part, ".")
	}
	hasWrongPart := slices.ContainsFunc(strings.Split(slug, "/"), isWrongPart) || !filepath.IsLocal(filepath.FromSlash(slug))
	if hasWrongPart || !utf8.ValidString(slug) || strings.ContainsFunc(slug, isForbidden) {
		return "", fmt.Errorf(`%s cannot be the name of a subject: leave out \ : * ? " < > | [ ] { } and what cannot be printed; `+
			`no part of it may be empty, "." or "..", begin or end with a blank, or end with a dot`, text.Quote(slug))
	}
	ext := strings.TrimPrefix(path.Ext(strings.TrimLeft(path.Base(slug), ".")), ".") // .env has none
	if strings.Trim(ext, "0123456789") == "" {
		slug += ".md" // also after a version number such as 1.2, which is no extension
	}
	return slug, nil
}

// templateOf returns the content of a new file. A skill has front matter, see https://agentskills.io/specification,
// with an empty description for its author to fill in.
func templateOf(file string) string {
	folder, name := path.Split(file)
	if folder == "" || name != "SKILL.md" {
		return heading(strings.TrimSuffix(name, path.Ext(name)))
	}
	folder = path.Base(folder)
	return "---\nname: \"" + folder + "\"\n# What it does, and when to use it:\ndescription:\n---\n\n" + heading(folder)
}

// heading returns the line of a Markdown heading made of a name: words instead of - and _, the first letter in upper
// case.
func heading(name string) string {
	words := strings.NewReplacer("-", " ", "_", " ").Replace(strings.TrimLeft(name, "."))
	title := strings.Join(strings.Fields(words), " ")
	_, size := utf8.DecodeRuneInString(title)
	return "# " + strings.ToUpper(title[:size]) + title[size:] + "\n"
}

// createFile creates a file in the directory of a topic, and the folders that are missing there. It also creates the
// directory of the topic if that is missing and is in the project. createFile follows no link out of the directory. The
// error wraps [fs.ErrExist] if the file exists.
func createFile(b *knowledge.Base, topic knowledge.Topic, file, content string) error {
	root, err := b.OpenDir(topic.ID)
	if errors.Is(err, fs.ErrNotExist) && !topic.Outside {
		project, projectErr := safefile.OpenDir(b.Root())
		if projectErr != nil {
			return projectErr
		}
		defer project.Close()
		if err := project.MkdirAll(filepath.FromSlash(topic.Dir), 0o755); err != nil {
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
	return errors.Join(err, f.Close())
}
