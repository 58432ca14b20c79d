package session

import (
	"bufio"
	"context"
	"errors"
	"strings"

	"github.com/carve-ipam/carve/internal/cli/exit"
)

// errDeclined ends a verb that somebody did not want to go on.
var errDeclined = errors.New("nothing was done")

// Confirm asks the person at the terminal whether to go on. what stands before the question, and in the refusal where no person can be asked.
func (p *Program) Confirm(ctx context.Context, what, question string) error {
	if p.Secret == nil { // nobody is there to be asked
		return exit.Usagef("%s: give --yes to go on without a question, or --dry-run to see it", what)
	}
	p.Note("%s. %s Type yes:", what, question)
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(p.In).ReadString('\n') // what cannot be read is no yes
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
