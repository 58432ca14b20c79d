package session

import (
	"context"
	"io"
	"os"

	"golang.org/x/term"
)

// TerminalSecret answers how to ask a person for a secret without an echo; nil where in is no terminal. When ctx ends first,
// as on an interrupt, the terminal gets its echo back and the read is left behind.
func TerminalSecret(ctx context.Context, in *os.File, out io.Writer) func(prompt string) ([]byte, error) {
	fd := int(in.Fd())
	if !term.IsTerminal(fd) {
		return nil
	}
	return func(prompt string) ([]byte, error) {
		before, err := term.GetState(fd)
		if err != nil {
			return nil, err
		}
		if _, err := io.WriteString(out, prompt); err != nil {
			return nil, err
		}
		type line struct {
			text []byte
			err  error
		}
		read := make(chan line, 1)
		go func() {
			text, err := term.ReadPassword(fd)
			read <- line{text, err}
		}()
		defer func() { _, _ = io.WriteString(out, "\n") }() // the one that was not echoed
		select {
		case l := <-read:
			return l.text, l.err
		case <-ctx.Done():
			_ = term.Restore(fd, before) // the error is about a terminal that is gone
			return nil, ctx.Err()
		}
	}
}

// TerminalWidth is how many columns a terminal has; 0: it is none.
func TerminalWidth(out *os.File) int {
	width, _, err := term.GetSize(int(out.Fd()))
	if err != nil {
		return 0
	}
	return width
}
