package check

import "strings"

// goName turns a snake_case name into a Go identifier with the usual capitals.
func goName(snake string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(snake, "_") {
		switch word {
		case "":
		case "id", "json", "url", "cli", "xml", "api", "jp", "mcp", "html", "http", "utf8", "ui":
			b.WriteString(strings.ToUpper(word))
		case "ids", "urls":
			b.WriteString(strings.ToUpper(word[:len(word)-1]) + "s")
		default:
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return b.String()
}

// plural names the field that holds many elements.
func plural(name string) string {
	switch {
	case strings.HasSuffix(name, "s"), strings.HasSuffix(name, "x"), strings.HasSuffix(name, "ch"), strings.HasSuffix(name, "sh"):
		return name + "es"
	case strings.HasSuffix(name, "y") && len(name) > 1 && !strings.ContainsRune("aeiou", rune(name[len(name)-2])):
		return name[:len(name)-1] + "ies"
	default:
		return name + "s"
	}
}
