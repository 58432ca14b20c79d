package session

import (
	"context"
	"io"
	"os"

	"golang.org/x/term"
)

// TerminalSecret returns a function that reads a secret without echo. If the file in is not a terminal, it returns nil. If ctx ends first, for
// example on an interrupt, the function restores the echo and stops waiting for the secret.
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
		defer func() { _, _ = io.WriteString(out, "\n") }() // the terminal did not echo the user's line feed
		select {
		case l := <-read:
			return l.text, l.err
		case <-ctx.Done():
			_ = term.Restore(fd, before) // if this fails, the terminal no longer exists
			return nil, ctx.Err()
		}
	}
}

// TerminalWidth returns a terminal's width in columns. If the file out is not a terminal, it returns 0.
func TerminalWidth(out *os.File) int {
	width, _, err := term.GetSize(int(out.Fd()))
	if err != nil {
		return 0
	}
	return width
}
