// Command skewclock writes an overlay for `go build -overlay` into a directory. What is built with it has a clock that can be put off (package skew).
package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/carve-ipam/carve/lab/skew"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: skewclock DIRECTORY")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "skewclock:", err)
		os.Exit(1)
	}
}

func write(dir string) error {
	goroot, err := exec.Command("go", "env", "GOROOT").Output() //nolint:noctx // the toolchain that builds with the overlay
	if err != nil {
		return fmt.Errorf("go env GOROOT: %w", err)
	}
	_, err = skew.Overlay(strings.TrimSpace(string(goroot)), dir)
	return err
}
