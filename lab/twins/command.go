package twins

import (
	"context"
	"errors"
	"maps"

	"github.com/carve-ipam/carve/lab/skew"
)

// Run runs the command. It writes the overlay for the checkout in the working directory.
func Run(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return errors.New("name the directory that the overlay goes to")
	}
	sources, err := Sources(".")
	if err != nil {
		return err
	}
	clock, err := skew.Own(ctx)
	if err != nil {
		return err
	}
	maps.Copy(sources, clock)
	_, err = sources.Write(args[0])
	return err
}
