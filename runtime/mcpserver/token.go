package mcpserver

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/convtools/convtools/runtime/base/safefile"
)

const (
	minToken = 16   // characters; a shorter token can be guessed
	maxToken = 4096 // bytes in the file
)

// Token is the secret that clients have to send. The zero Token lets everybody in.
type Token struct {
	sum [sha256.Size]byte
	set bool
}

// ReadToken reads a token from a file: one line of at least 16 visible ASCII characters. Only the owner may have
// access to the file, as with keys of ssh; on Windows its access control list decides.
func ReadToken(path string) (Token, error) {
	refuse := func(why string) (Token, error) {
		return Token{}, fmt.Errorf("the token file %s %s", path, why)
	}
	f, info, err := safefile.Open(path)
	if errors.Is(err, safefile.ErrNotRegular) {
		return refuse("is not a regular file")
	}
	if err != nil {
		return Token{}, fmt.Errorf("reading the token file: %w", err)
	}
	defer f.Close()
	mode := info.Mode().Perm()
	if isShared := mode&0o077 != 0; isShared && runtime.GOOS != "windows" {
		return refuse(fmt.Sprintf("is not only yours (mode %04o): run chmod 600 on it", mode))
	}
	text, err := safefile.ReadAll(f, maxToken)
	if _, ok := errors.AsType[*safefile.TooLargeError](err); ok {
		return refuse(fmt.Sprintf("is longer than %d bytes", maxToken))
	}
	if err != nil {
		return Token{}, fmt.Errorf("reading the token file: %w", err)
	}
	token := string(bytes.TrimSpace(text))
	switch {
	case token == "":
		return refuse("is empty")
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return refuse("has to hold one line of visible ASCII characters")
	case len(token) < minToken:
		return refuse(fmt.Sprintf("holds a token of %d characters; at least %d are needed", len(token), minToken))
	}
	return NewToken(token), nil
}

// NewToken returns the token whose secret is text.
func NewToken(text string) Token { return Token{sum: sha256.Sum256([]byte(text)), set: true} }

// IsSet reports whether clients need a token.
func (t Token) IsSet() bool { return t.set }

// allows reports whether an Authorization header has the token, or no token is set. The header is Bearer and the token:
// https://www.rfc-editor.org/rfc/rfc6750#section-2.1. It takes the same time for every token.
func (t Token) allows(authorization string) bool {
	if !t.set {
		return true
	}
	scheme, text, _ := strings.Cut(authorization, " ")
	sum := sha256.Sum256([]byte(strings.TrimLeft(text, " ")))
	same := subtle.ConstantTimeCompare(sum[:], t.sum[:]) == 1
	return same && strings.EqualFold(scheme, "Bearer")
}
