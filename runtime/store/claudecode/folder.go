package claudecode

import (
	"runtime"
	"strings"
)

// maxFolder is how long the name of a folder can be before the rest of it is a hash.
const maxFolder = 200

// folderName returns the name of the folder that has the sessions of a directory, up to
// the hash that a long one ends with: whatever is no ASCII letter or digit is a '-',
// twice where it has two UTF-16 units.
func folderName(dir string) string {
	var b strings.Builder
	for _, r := range dir {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
			b.WriteRune(r)
		case r > 0xffff:
			b.WriteString("--")
		default:
			b.WriteByte('-')
		}
	}
	return b.String()
}

// mayHold reports whether a folder may have sessions of a directory or of one below it.
func mayHold(folder, dir string) bool {
	name := folderName(dir)
	if name = name[:min(len(name), maxFolder)]; len(folder) < len(name) {
		return false
	}
	begin, rest := folder[:len(name)], folder[len(name):]
	if begin != name && (runtime.GOOS != "windows" && runtime.GOOS != "darwin" || !strings.EqualFold(begin, name)) {
		return false
	}
	return rest == "" || rest[0] == '-' || len(name) == maxFolder || strings.HasSuffix(name, "-")
}
