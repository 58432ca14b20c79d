package session

import (
	"bufio"
	"context"
	"errors"
	"strings"

	"github.com/carve-ipam/carve/internal/cli/exit"
)

// errDeclined ends a verb that the user has declined.
var errDeclined = errors.New("nothing was done")

// Confirm asks the user at the terminal for confirmation. what precedes the question; without a terminal, it is part of the refusal.
func (p *Program) Confirm(ctx context.Context, what, question string) error {
	if p.Secret == nil { // no user to ask
		return exit.Usagef("%s: use --yes to continue without a question, or --dry-run for a preview", what)
	}
	p.Note("%s. %s Type yes:", what, question)
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(p.In).ReadString('\n') // an unreadable line is no yes
		answer <- strings.TrimSpace(line)
	}()
	select {
	case line := <-answer:
		if line = strings.ToLower(line); line != "yes" && line != "y" {
			return errDeclined
		}
		return nil
	case <-ctx.Done():
		return exit.Endf(exit.Unavailable, "interrupted: nothing was done")
	}
}
