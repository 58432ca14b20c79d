package skew

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/carve-ipam/carve/lab/overlay"
)

// Run runs the command. It writes the overlay for the Go installation that builds the program.
func Run(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return errors.New("name the directory that the overlay goes to")
	}
	sources, err := Own(ctx)
	if err != nil {
		return err
	}
	_, err = sources.Write(args[0])
	return err
}

// Own returns the Sources for the Go installation in use.
func Own(ctx context.Context) (overlay.Sources, error) {
	goroot, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	return Sources(strings.TrimSpace(string(goroot)))
}
