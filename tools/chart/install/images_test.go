package install

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
)

// backupImage is the image that docs/kubernetes.md describes: PostgreSQL's own, with ipamctl. The tests replace it by pg_dump with its libraries.
const backupImage = "carve-backup:test"

// pgDump is the path of PostgreSQL's pg_dump, "" if only the server is installed.
var pgDump = func() string {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/pg_dump")
	if err != nil || len(found) == 0 {
		return ""
	}
	return slices.Max(found)
}()

// aFile matches the end of a line from ldd: the path of a library or of the loader.
var aFile = regexp.MustCompile(`(?m)(/[^ ]+) \(0x[0-9a-f]+\)$`)

// addDump copies pg_dump with its libraries into a pod's root.
func addDump(ctx context.Context, root string) error {
	out, err := exec.CommandContext(ctx, "ldd", pgDump).Output()
	if err != nil {
		return fmt.Errorf("ldd %s: %w", pgDump, err)
	}
	files := []string{pgDump}
	for _, found := range aFile.FindAllStringSubmatch(string(out), -1) {
		files = append(files, found[1])
	}
	for _, file := range files {
		real, err := filepath.EvalSymlinks(file)
		if err != nil {
			return err
		}
		to := filepath.Join(root, file)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := copyFile(real, to); err != nil {
			return err
		}
	}
	// Programs that start others open /dev/null.
	null := filepath.Join(root, os.DevNull)
	return errors.Join(os.MkdirAll(filepath.Dir(null), 0o755), os.WriteFile(null, nil, 0o600), os.Chmod(null, 0o666))
}
