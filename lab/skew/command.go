package skew

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// Run is the command: it writes the overlay for the Go installation that will build with it.
func Run(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return errors.New("name the directory that the overlay goes to")
	}
	goroot, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env GOROOT: %w", err)
	}
	_, err = Overlay(strings.TrimSpace(string(goroot)), args[0])
	return err
}
