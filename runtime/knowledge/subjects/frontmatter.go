package subjects

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/convtools/convtools/runtime/base/text"
)

const (
	// maxFrontMatter is how many bytes of a file front matter may take.
	maxFrontMatter = 8 << 10
	// maxDescription is the length of a description in characters that the Agent
	// Skills specification allows.
	maxDescription = 1024
)

// DescriptionOf returns what the front matter that a SKILL.md begins with says the skill is
// for, on one line of at most 1,024 characters. Without front matter that is nothing. What is
// no YAML has no description, and an error.
func DescriptionOf(data []byte) (string, error) {
	var matter struct {
		Description string `yaml:"description"`
	}
	spaced := bytes.ReplaceAll(frontMatter(data), []byte("\t"), []byte(" ")) // the library loses tabs inside of values
	if err := yaml.Unmarshal(spaced, &matter); err != nil {
		reason, _, _ := strings.Cut(strings.TrimSpace(yaml.FormatError(err, false, false)), "\n")
		return "", fmt.Errorf("its front matter is no YAML: %s", text.Cell(reason))
	}
	return text.Cut(strings.Join(strings.Fields(text.Line(matter.Description)), " "), maxDescription), nil
}

// frontMatter returns what is between a line of "---" at the beginning and the
// next, or one of "...". There is none where the second is missing.
func frontMatter(data []byte) []byte {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	data = data[:min(len(data), maxFrontMatter)]
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
