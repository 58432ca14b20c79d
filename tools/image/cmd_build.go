package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/carve-ipam/carve/tools/image/oci"
	"github.com/carve-ipam/carve/tools/image/pack"
	"github.com/carve-ipam/carve/tools/image/programs"
	"github.com/carve-ipam/carve/tools/image/recipe"
	"github.com/carve-ipam/carve/tools/image/rootfs"
)

func runBuild(ctx context.Context, args []string, stdout io.Writer) error {
	f := flags("build")
	repo := f.String("repo", ".", "a `DIRECTORY` in the checkout")
	out := f.String("out", "bin", "the `DIRECTORY` to write to")
	version := f.String("version", "dev", "what the programs say their version is")
	commit := f.String("commit", "", "the commit that the sources are of")
	if err := f.Parse(args); err != nil {
		return err
	}
	root, err := programs.Repository(*repo)
	if err != nil {
		return err
	}
	created, err := recipe.Epoch(os.Getenv("SOURCE_DATE_EPOCH"))
	if err != nil {
		return err
	}
	if other := programs.OtherGo(); other != "" {
		_, _ = fmt.Fprintln(stdout, "note: "+other)
	}
	for _, each := range recipe.Images {
		made, err := pack.Image(ctx, root, *out, recipe.Stamp{Image: each, Version: *version, Commit: *commit, Created: created})
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(stdout, "%s\n  index        %s\n", filepath.Join(*out, each.Layout()), made.Index)
		for i, p := range recipe.Platforms {
			_, _ = fmt.Fprintf(stdout, "  %s  %s  %.1f MB\n", p, made.Images[i], float64(made.Sizes[i])/1e6)
		}
	}
	return nil
}

func runRootfs(_ context.Context, args []string, _ io.Writer) error {
	f := flags("rootfs")
	repo := f.String("repo", ".", "a `DIRECTORY` in the checkout")
	out := f.String("out", "", "the `DIRECTORY` to write to")
	if err := f.Parse(args); err != nil {
		return err
	}
	if *out == "" {
		return fmt.Errorf("--out is needed: the directory to write to")
	}
	root, err := programs.Repository(*repo)
	if err != nil {
		return err
	}
	base, err := rootfs.Base(root)
	if err != nil {
		return err
	}
	return base.Write(*out)
}

func runPush(ctx context.Context, args []string, stdout io.Writer) error {
	f := flags("push")
	from := f.String("layout", filepath.Join("bin", recipe.Server.Layout()), "the `DIRECTORY` that `image build` wrote")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() != 1 {
		return fmt.Errorf("where to? image push [--layout=DIRECTORY] REGISTRY/NAME:TAG")
	}
	digest, err := oci.Push(ctx, *from, f.Arg(0))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(stdout, digest)
	return err
}
