package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

// signalDelay is how long a signal that was sent already may take to get here:
// many times what it takes, and too short to be noticed by whoever said yes.
const signalDelay = 100 * time.Millisecond

// Ask asks a question whose answer is yes or no, after what it is about has been
// shown. Only a person can say yes, and one who interrupts does not: any other
// answer is an error, after which nothing must be changed. The command needs the
// flag --yes.
func Ask(ctx context.Context, stdin io.Reader, stderr io.Writer, question string) error {
	in, ok := stdin.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return errors.New("nothing was changed, because nobody can be asked here; add --yes to make the change")
	}
	fmt.Fprintf(stderr, "\n%s [y/N] ", question)
	type answer struct {
		text string
		err  error
	}
	answered := make(chan answer, 1)
	// A signal does not end the read, which goes on until the program is over.
	go func() {
		text, err := bufio.NewReader(io.LimitReader(in, 1024)).ReadString('\n')
		answered <- answer{text, err}
	}()
	var got answer
	select {
	case <-ctx.Done():
		fmt.Fprintln(stderr)
	case got = <-answered:
	}
	if got.err != nil && !errors.Is(got.err, io.EOF) {
		return fmt.Errorf("reading the answer: %w", got.err)
	}
	switch strings.ToLower(strings.TrimSpace(got.text)) {
	case "y", "yes":
		// An interrupt that was typed just before the yes takes longer to get
		// here: it is a signal, and what was read is not.
		select {
		case <-ctx.Done():
		case <-time.After(signalDelay):
			return nil
		}
	}
	fmt.Fprintln(stderr, "Nothing was changed.")
	return ErrFailed
}
