// Command tracked checks the files that git tracks. It refuses programs, other binary files, and large files, because a committed file stays in every
// clone. `make` can rebuild programs. A list contains the permitted exceptions with their reasons. The command checks the index, so that it reports a
// fault before the commit.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
)

const (
	largest = 1 << 20 // size limit of a file that is not on the list
	looked  = 8000    // number of bytes in which git looks for a zero byte to detect binary files
)

// meant lists the permitted files with the reason.
var meant = map[string]string{
	"docs/pictures/console-chart.png":             "the console, for the docs",
	"docs/pictures/console-claim.png":             "the console, for the docs",
	"docs/pictures/console-import.png":            "the console, for the docs",
	"docs/pictures/console-map.png":               "the console, for the docs",
	"docs/pictures/console-overview.png":          "the console, for the docs",
	"docs/pictures/console-tree.png":              "the console, for the docs",
	"internal/api/docs/dist/favicon-32x32.png":    "Swagger UI's, served as it is",
	"internal/api/docs/dist/swagger-ui-bundle.js": "Swagger UI, served as it is",
}

func main() {
	if err := run(context.Background(), ".", os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "tracked:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dir string, out io.Writer) error {
	list := exec.CommandContext(ctx, "git", "ls-files", "-z")
	list.Dir = dir
	found, err := list.Output()
	if err != nil {
		return fmt.Errorf("cannot ask git for its files: %w", err)
	}
	names := strings.Split(strings.TrimSuffix(string(found), "\x00"), "\x00")
	findings, err := check(os.DirFS(dir), names, meant)
	if err != nil {
		return err
	}
	if len(findings) > 0 {
		return errors.New("files that git should not have; take them out with git rm --cached, or put them on the list in tools/tracked with a reason:\n  " + strings.Join(findings, "\n  "))
	}
	_, err = fmt.Fprintf(out, "%d tracked files, none of them a program or too large\n", len(names))
	return err
}

// check returns the faults in the files, and the unnecessary entries of the list.
func check(root fs.FS, names []string, meant map[string]string) (findings []string, err error) {
	needed := map[string]bool{}
	for _, name := range names {
		wrong, err := look(root, name)
		switch {
		case errors.Is(err, fs.ErrNotExist): // deleted, and not yet in the index
		case err != nil:
			return nil, err
		case wrong == "":
		case meant[name] != "":
			needed[name] = true
		default:
			findings = append(findings, name+" "+wrong)
		}
	}
	for name := range meant {
		if !needed[name] {
			findings = append(findings, name+" is on the list and need not be")
		}
	}
	return findings, nil
}

// look returns the fault of a file, or "".
func look(root fs.FS, name string) (wrong string, err error) {
	info, err := fs.Lstat(root, name)
	if err != nil || !info.Mode().IsRegular() {
		return "", err
	}
	if info.Size() > largest {
		return fmt.Sprintf("has %.1f MB", float64(info.Size())/1e6), nil
	}
	file, err := root.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	head, err := io.ReadAll(io.LimitReader(file, looked))
	if bytes.IndexByte(head, 0) >= 0 {
		return "is binary", err
	}
	return "", err
}
