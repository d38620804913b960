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

// signalDelay is the time in which a signal that was sent already arrives. It is too short to notice.
const signalDelay = 100 * time.Millisecond

// ErrNobody is the error for a question where standard input is no terminal.
var ErrNobody = errors.New("nobody can be asked here")

// Answer asks a person on a terminal a question, and returns the line that was typed, without white space around it.
// The line is empty after an interrupt and at the end of the input. The error is [ErrNobody], or that of reading.
func Answer(ctx context.Context, stdin io.Reader, stderr io.Writer, question string) (string, error) {
	in, ok := stdin.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return "", ErrNobody
	}
	fmt.Fprint(stderr, "\n"+question)
	type answer struct {
		text string
		err  error
	}
	answered := make(chan answer, 1)
	// A signal does not end this read: after an interrupt, the goroutine lasts until the program ends.
	go func() {
		text, err := bufio.NewReader(io.LimitReader(in, 1024)).ReadString('\n')
		answered <- answer{text, err}
	}()
	var typed answer
	select {
	case <-ctx.Done():
		fmt.Fprintln(stderr)
	case typed = <-answered:
	}
	if typed.err != nil && !errors.Is(typed.err, io.EOF) {
		return "", fmt.Errorf("reading the answer: %w", typed.err)
	}
	return strings.TrimSpace(typed.text), nil
}

// Ask asks a person on a terminal a yes-or-no question, and returns nil for yes. Any other answer, an interrupt and a
// missing terminal are errors. The caller prints what will change before it calls Ask, changes nothing after an error,
// and has a flag --yes.
func Ask(ctx context.Context, stdin io.Reader, stderr io.Writer, question string) error {
	answer, err := Answer(ctx, stdin, stderr, question+" [y/N] ")
	if errors.Is(err, ErrNobody) {
		return errors.New("nothing was changed, because nobody can be asked here; add --yes to make the change")
	}
	if err != nil {
		return err
	}
	answer = strings.ToLower(answer)
	if answer == "y" || answer == "yes" {
		select {
		case <-ctx.Done(): // an interrupt that was typed just before the yes may arrive after the yes
		case <-time.After(signalDelay):
			return nil
		}
	}
	fmt.Fprintln(stderr, "Nothing was changed.")
	return ErrFailed
}
