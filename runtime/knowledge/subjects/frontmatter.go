package subjects

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/convtools/convtools/runtime/base/text"
)

// maxDescription is the length of a description in characters that the Agent
// Skills specification allows.
const maxDescription = 1024

// DescriptionOf returns what the front matter that a SKILL.md begins with says the skill is
// for, on one line of at most 1,024 characters. Without front matter that is nothing. What is
// no YAML has no description, and an error.
//
// It reads the syntax alone: to decode aliases may take longer than anybody waits.
func DescriptionOf(data []byte) (string, error) {
	spaced := bytes.ReplaceAll(frontMatter(data), []byte("\t"), []byte(" ")) // the library loses tabs inside of values
	file, err := parser.ParseBytes(spaced, 0)
	if err != nil {
		reason, _, _ := strings.Cut(strings.TrimSpace(yaml.FormatError(err, false, false)), "\n")
		return "", fmt.Errorf("its front matter is no YAML: %s", text.Cell(reason))
	}
	if len(file.Docs) == 0 {
		return "", nil
	}
	matter, _ := file.Docs[0].Body.(ast.MapNode)
	if matter == nil {
		return "", nil
	}
	for fields := matter.MapRange(); fields.Next(); {
		if fields.Key().GetToken().Value != "description" {
			continue
		}
		var said string
		switch value := fields.Value().(type) {
		case *ast.NullNode:
		case *ast.AliasNode:
			return "", errors.New("the description in its front matter is an alias")
		case *ast.LiteralNode:
			said = value.Value.Value
		case ast.ScalarNode:
			said = fmt.Sprint(value.GetValue())
		default:
			return "", errors.New("the description in its front matter is no text")
		}
		return text.Cut(strings.Join(strings.Fields(text.Line(said)), " "), maxDescription), nil
	}
	return "", nil
}

// frontMatter returns what is between a line of "---" at the beginning and the
// next, or one of "...". There is none where the second is missing.
func frontMatter(data []byte) []byte {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	data = data[:min(len(data), beginning)]
	offset, begin := 0, 0
	for line := range bytes.Lines(data) {
		mark := string(bytes.TrimRight(line, " \t\r\n"))
		switch {
		case offset == 0 && mark != "---":
			return nil
		case offset == 0:
			begin = len(line)
		case mark == "---" || mark == "...":
			return data[begin:offset]
		}
		offset += len(line)
	}
	return nil
}
