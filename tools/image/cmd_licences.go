package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/carve-ipam/carve/tools/image/licences"
	"github.com/carve-ipam/carve/tools/image/programs"
)

func runLicences(ctx context.Context, args []string, stdout io.Writer) error {
	f := flags("licences")
	repo := f.String("repo", ".", "a `DIRECTORY` in the checkout")
	check := f.Bool("check", false, "write nothing; fail when THIRD_PARTY_LICENSES is not what the sources make")
	if err := f.Parse(args); err != nil {
		return err
	}
	root, err := programs.Repository(*repo)
	if err != nil {
		return err
	}
	components, err := licences.Scan(ctx, root)
	if err != nil {
		return err
	}
	if err := licences.Bundled(root, components); err != nil {
		return err
	}
	if err := licences.Refused(components); err != nil {
		return err
	}
	file, text := filepath.Join(root, "THIRD_PARTY_LICENSES"), licences.Notices(components)
	if *check {
		if have, err := os.ReadFile(file); err != nil || string(have) != text {
			return errors.Join(err, errors.New("THIRD_PARTY_LICENSES is not what the sources make: make licences"))
		}
	} else if err := os.WriteFile(file, []byte(text), 0o644); err != nil { //nolint:gosec // G306: for everybody to read
		return err
	}
	_, err = fmt.Fprintf(stdout, "%d components, all under licences that are agreed to\n", len(components))
	return err
}
