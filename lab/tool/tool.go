// Package tool contains the parts that the lab's programs share.
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

// Command is one command of a program. The first argument selects it, and the command gets the other arguments.
type Command struct {
	Name  string
	About string // the question that the command answers
	Run   func(ctx context.Context, args []string) error
}

// Main runs the command that the first argument selects. Ctrl-C and SIGTERM cancel its context, so that the command can stop its processes. Main
// prints an error with the command's name and exits with 1. If no command is selected, it exits with 2.
func Main(program string, commands ...Command) {
	if code := perform(program, commands, os.Args[1:], os.Stderr); code != 0 {
		os.Exit(code)
	}
}

func perform(program string, commands []Command, args []string, out io.Writer) (code int) {
	chosen, there := choose(commands, args)
	if !there {
		_, _ = fmt.Fprintf(out, "usage: %s COMMAND [FLAGS]; COMMAND -help lists the flags\n", program)
		for _, c := range commands {
			_, _ = fmt.Fprintf(out, "  %-10s %s\n", c.Name, c.About)
		}
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := chosen.Run(ctx, args[1:])
	if err == nil || errors.Is(err, flag.ErrHelp) { // package flag has printed the help
		return 0
	}
	_, _ = fmt.Fprintf(out, "%s: %v\n", chosen.Name, err)
	return 1
}

// choose returns the command that the first argument selects.
func choose(commands []Command, args []string) (chosen Command, there bool) {
	for _, c := range commands {
		if len(args) > 0 && c.Name == args[0] {
			return c, true
		}
	}
	return chosen, false
}

// TempDir makes a temporary directory that every user can enter. This is necessary because a database that root starts runs as another user. The
// caller must remove the directory.
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
