package subjects

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/convtools/convtools/runtime/base/text"
)

// maxDescription is the length in characters that the Agent Skills specification allows for a description.
const maxDescription = 1024

// DescriptionOf returns the description in the front matter of a SKILL.md, on one line of at most 1,024 characters, or
// "" if there is none. The error is for front matter that is no YAML, and for a description that is an alias or any
// other value than text. An alias is not decoded, because that may take long.
func DescriptionOf(data []byte) (string, error) {
	spaced := bytes.ReplaceAll(frontMatter(data), []byte("\t"), []byte(" ")) // the library loses tabs in values
	file, err := parser.ParseBytes(spaced, 0)
	if err != nil {
		reason, _, _ := strings.Cut(strings.TrimSpace(yaml.FormatError(err, false, false)), "\n")
		return "", fmt.Errorf("its front matter is no YAML: %s", text.Cell(reason))
	}
	description, _ := yaml.PathString("$.description") // cannot fail: the path is a constant
	node, err := description.FilterFile(file)
	if err != nil {
		return "", nil // there is no description
	}
	var written string
	switch value := node.(type) {
	case *ast.NullNode: // description:
	case *ast.AliasNode:
		return "", errors.New("the description in its front matter is an alias")
	case *ast.LiteralNode:
		written = value.Value.Value
	case ast.ScalarNode:
		written = fmt.Sprint(value.GetValue())
	default:
		return "", errors.New("the description in its front matter is no text")
	}
	return text.Cut(strings.Join(strings.Fields(text.Line(written)), " "), maxDescription), nil
}

// frontMatter returns the text between a first line "---" and the next line "---" or "...". It returns nil if one of
// these lines is not in the beginning of the file.
func frontMatter(data []byte) []byte {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	form := regexp.MustCompile(`(?ms)\A---[ \t\r]*\n(.*?)^(?:---|\.\.\.)[ \t\r]*$`)
	if groups := form.FindSubmatch(data[:min(len(data), beginning)]); groups != nil {
		return groups[1]
	}
	return nil
}
