// Package tool is what the programs of the laboratory have in common as programs.
package tool

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Command is one of the things that a program does: its first argument names it, and the others are its own.
type Command struct {
	Name  string
	About string // the question that it answers
	Run   func(ctx context.Context, args []string) error
}

// Main is a program's main: it runs the command that was chosen until it is done. Ctrl-C and SIGTERM end its context, so that it can stop what it has
// started. What went wrong is told under the command's name, and makes the exit code 1; without a command the exit code is 2.
func Main(program string, commands ...Command) {
	if code := perform(program, commands, os.Args[1:], os.Stderr); code != 0 {
		os.Exit(code)
	}
}

func perform(program string, commands []Command, args []string, told io.Writer) (code int) {
	chosen, there := choose(commands, args)
	if !there {
		_, _ = fmt.Fprintf(told, "usage: %s COMMAND [FLAGS]; COMMAND -help lists the flags\n", program)
		for _, c := range commands {
			_, _ = fmt.Fprintf(told, "  %-10s %s\n", c.Name, c.About)
		}
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := chosen.Run(ctx, args[1:])
	if err == nil || errors.Is(err, flag.ErrHelp) { // which package flag has answered
		return 0
	}
	_, _ = fmt.Fprintf(told, "%s: %v\n", chosen.Name, err)
	return 1
}

// choose is the command that the first argument names.
func choose(commands []Command, args []string) (chosen Command, there bool) {
	for _, c := range commands {
		if len(args) > 0 && c.Name == args[0] {
			return c, true
		}
	}
	return chosen, false
}

// TempDir makes a temporary directory that everybody can walk through: a database in it runs as another user when this is root. Who makes it removes it.
func TempDir(pattern string) (string, error) {
	dir, err := os.MkdirTemp("", pattern)
	if err != nil {
		return "", err
	}
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // that is its purpose
		return "", errors.Join(err, os.Remove(dir))
	}
	return dir, nil
}
