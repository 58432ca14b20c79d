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

// backupImage is the one that docs/kubernetes.md says how to make: PostgreSQL's own, and ipamctl. Played, it is pg_dump with the libraries that it needs.
const backupImage = "carve-backup:test"

// pgDump is PostgreSQL's, "" where only its server is installed.
var pgDump = func() string {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/pg_dump")
	if err != nil || len(found) == 0 {
		return ""
	}
	return slices.Max(found)
}()

// aFile is what a line of ldd ends with: where a library is, or the loader.
var aFile = regexp.MustCompile(`(?m)(/[^ ]+) \(0x[0-9a-f]+\)$`)

// addDump puts it into the root of a pod.
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
	// Programs that start others open it.
	null := filepath.Join(root, os.DevNull)
	return errors.Join(os.MkdirAll(filepath.Dir(null), 0o755), os.WriteFile(null, nil, 0o600), os.Chmod(null, 0o666))
}
