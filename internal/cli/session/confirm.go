package session

import (
	"bufio"
	"context"
	"errors"
	"strings"

	"github.com/carve-ipam/carve/internal/cli/exit"
)

// errDeclined ends a command that the user did not confirm.
var errDeclined = errors.New("nothing was done")

// Confirm asks the user at the terminal for confirmation. It prints the effect before the question. Without a terminal, it returns an error that
// contains the effect.
func (p *Program) Confirm(ctx context.Context, effect, question string) error {
	if p.Secret == nil { // there is no user to ask
		return exit.Usagef("%s: use --yes to continue without a question, or --dry-run for a preview", effect)
	}
	p.Note("%s. %s Type yes:", effect, question)
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(p.In).ReadString('\n') // a line that cannot be read does not confirm
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
