//go:build unix

package devdb

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// FindProgram finds a PostgreSQL client program with at least a major version. It searches the server programs' directories, and the search path,
// because a machine may have only the client programs. It prefers the lowest sufficient version.
func FindProgram(ctx context.Context, name string, atLeast int) (Program, error) {
	var paths []string
	for _, dir := range clientDirs() {
		paths = append(paths, filepath.Join(dir, name))
	}
	if path, err := exec.LookPath(name); err == nil && os.Getenv(EnvPostgresBin) == "" {
		paths = append(paths, path)
	}
	var found Program
	var seen []string
	for _, path := range paths {
		if _, err := os.Stat(path); err != nil {
			continue
		}
		p, err := inspectProgram(ctx, path)
		switch {
		case err != nil:
			seen = append(seen, fmt.Sprintf("%s: %v", path, err))
		case p.Major < atLeast:
			seen = append(seen, fmt.Sprintf("%s: version %d is too old", path, p.Major))
		case found.Path == "" || p.Major < found.Major:
			found = p
		}
	}
	if found.Path != "" {
		return found, nil
	}
	return Program{}, fmt.Errorf("%w: no %s of PostgreSQL %d or newer; install PostgreSQL's client programs (Debian: postgresql-client), or set %s to their directory%s",
		ErrMissing, name, atLeast, EnvPostgresBin, lines(seen))
}

// lines returns the end of an error, with each text on its own line.
func lines(texts []string) string { return strings.Join(append([]string{""}, texts...), "\n  ") }

func inspectProgram(ctx context.Context, path string) (Program, error) {
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return Program{}, err
	}
	p := Program{Path: path, Version: strings.TrimSpace(string(out))}
	p.Major, err = majorOf(path, p.Version)
	return p, err
}

// majorOf parses the major version from a program's output with --version.
func majorOf(program, output string) (int, error) {
	match := versionLine.FindStringSubmatch(output)
	if match == nil {
		return 0, fmt.Errorf("%s --version says %q", program, output)
	}
	return strconv.Atoi(match[1])
}
