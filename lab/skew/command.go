package skew

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/carve-ipam/carve/lab/overlay"
)

// Run is the command: it writes the overlay for the Go installation that will build with it.
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

// Own is Sources of the Go installation that builds here.
func Own(ctx context.Context) (overlay.Sources, error) {
	goroot, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	return Sources(strings.TrimSpace(string(goroot)))
}
