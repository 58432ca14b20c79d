// Release builds all installable parts of Carve. These are archives and packages of the programs, images, charts and clients, with checksums and
// bills of materials. `make release` and `make release-test` run it. docs/install.md describes how to use the result.
//
//	release versions [-write]   check that every place has the version of the file VERSION, or write it there
//	release build               build everything into dist/
//	release verify A B          compare two build directories, file by file
//
// It is a separate module, so that its dependencies do not become dependencies of the programs.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/carve-ipam/carve/tools/image/programs"
	"github.com/carve-ipam/carve/tools/image/recipe"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New("which command: versions, build or verify?")
	}
	f := flag.NewFlagSet("release "+args[0], flag.ContinueOnError)
	in := f.String("repo", ".", "a `DIRECTORY` in the checkout")
	write := f.Bool("write", false, "versions: correct what is wrong")
	out := f.String("out", "dist", "build: the `DIRECTORY` to write to")
	commit := f.String("commit", "", "build: the commit that the sources are of")
	only := f.String("only", "", "build: no more than the archive and the packages of this `PLATFORM`, for example linux/amd64")
	if err := f.Parse(args[1:]); err != nil {
		return err
	}
	repo, err := programs.Repository(*in)
	if err != nil {
		return err
	}
	switch args[0] {
	case "versions":
		return versions(repo, *write)
	case "build":
		r, err := newRelease(repo, *out, *commit)
		if err != nil {
			return err
		}
		defer r.clean()
		return r.build(ctx, *only)
	case "verify":
		if f.NArg() != 2 {
			return errors.New("verify compares two directories")
		}
		return verify(f.Arg(0), f.Arg(1))
	}
	return fmt.Errorf("there is no command %q", args[0])
}

func versions(repo string, write bool) error {
	v, err := version(repo)
	if err != nil {
		return err
	}
	wrong, err := misplaced(repo, v, write)
	if err != nil {
		return err
	}
	if len(wrong) > 0 && !write {
		return fmt.Errorf("VERSION says %s, and these say something else (make version): %s", v, strings.Join(wrong, ", "))
	}
	fmt.Printf("%s in %d places, %d of them corrected\n", v, len(places), len(wrong))
	return nil
}

// parse reads os/arch.
func parse(name string) (recipe.Platform, error) {
	for _, p := range platforms {
		if p.String() == name {
			return p, nil
		}
	}
	return recipe.Platform{}, fmt.Errorf("%q is none of the platforms of a release", name)
}
