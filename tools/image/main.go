// Image builds Carve's container images, of the server and of the Kubernetes controller, without a container engine, and documents their content.
// `make image`, `make licences` and the Dockerfile run it; docs/evidence.md describes how to check the result.
//
//	image build      builds the images for all platforms: for each an OCI layout, an archive for `docker load`, and an SBOM for each platform
//	image rootfs     writes the image's files, except the programs, into a directory
//	image push       copies a layout and the documents that refer to it to a registry
//	image licences   writes THIRD_PARTY_LICENSES, or checks it
//
// It is a separate module, so that its dependencies do not become dependencies of the image.
package main

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

// command is a verb of the program.
type command struct {
	name, about string
	run         func(ctx context.Context, args []string, stdout io.Writer) error
}

var commands = []command{
	{"build", "build the images", runBuild},
	{"rootfs", "write the image's files but the programs to a directory", runRootfs},
	{"push", "copy a layout to a registry", runPush},
	{"licences", "write THIRD_PARTY_LICENSES, or check it", runLicences},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run returns the exit code. It is 1 after an error, and 2 for wrong usage.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 {
		for _, c := range commands {
			if c.name != args[0] {
				continue
			}
			switch err := c.run(ctx, args[1:], stdout); {
			case errors.Is(err, flag.ErrHelp):
				return 0
			case err != nil:
				_, _ = fmt.Fprintf(stderr, "image %s: %v\n", c.name, err)
				return 1
			}
			return 0
		}
	}
	_, _ = fmt.Fprintln(stderr, "image COMMAND [flags], where COMMAND is one of:")
	for _, c := range commands {
		_, _ = fmt.Fprintf(stderr, "  %-9s %s\n", c.name, c.about)
	}
	return 2
}

// flags returns a command's flag set. If parsing fails, the flag set returns an error and does not end the program.
func flags(name string) *flag.FlagSet {
	return flag.NewFlagSet("image "+name, flag.ContinueOnError)
}
