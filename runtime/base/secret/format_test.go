package secret

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"regexp"
	"testing"
)

// Indexes keep which messages have secrets. Whoever changes the kinds raises indexFormat, or indexes that are older than
// the change hide other messages than those with secrets.
func TestIndexFormat(t *testing.T) {
	t.Parallel()
	// The format, and the first bytes of the hash of the kinds, their bounds and the passwords of examples.
	const format, hash = "17", "e3d954ed97a414ba"
	source, err := os.ReadFile("../../conversations/indexes.go")
	if err != nil {
		t.Fatal(err)
	}
	number := regexp.MustCompile(`(?m)^const indexFormat = (\d+)$`).FindSubmatch(source)
	if number == nil {
		t.Fatal("package conversations has no indexFormat")
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%+v %d %d %d %v", kinds(), usualLength, maxLength, maxBefore, examplePasswords()))
	got := hex.EncodeToString(sum[:8])
	switch isSameFormat := string(number[1]) == format; {
	case got != hash && isSameFormat:
		t.Errorf("the kinds of secrets changed, and indexFormat is still %s: raise it, and note %s here", format, got)
	case got != hash || !isSameFormat:
		t.Errorf("note here that indexFormat is %s and the hash %s", number[1], got)
	}
}
