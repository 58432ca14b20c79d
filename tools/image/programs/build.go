// Package programs builds the image's programs. They are static, and builds at any time on any machine are identical.
package programs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/carve-ipam/carve/tools/image/recipe"
)

// Build builds the programs for a platform into dir, from the checkout in repo.
func Build(ctx context.Context, repo, dir string, p recipe.Platform, s recipe.Stamp) error {
	to := dir + string(filepath.Separator)
	if s.Image.Package != "" { // the package's name differs from the program's name
		to += s.Image.Programs[0] + p.Suffix()
	}
	args := append([]string{"build", "-o", to}, recipe.BuildArgs(s)...)
	for _, name := range s.Image.Programs {
		args = append(args, s.Image.PackageOf(name))
	}
	cmd := exec.CommandContext(ctx, "go", args...) //nolint:gosec // the arguments are the recipe's
	cmd.Dir = filepath.Join(repo, s.Image.Dir)
	cmd.Env = append(os.Environ(), recipe.Environment(p)...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build for %s: %w", p, err)
	}
	return nil
}

// Repository returns the root of the checkout that contains dir.
func Repository(dir string) (string, error) {
	at, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for {
		mod, err := os.ReadFile(filepath.Join(at, "go.mod"))
		if first, _, _ := strings.Cut(string(mod), "\n"); err == nil && first == "module "+recipe.Module {
			return at, nil
		}
		above := filepath.Dir(at)
		if above == at {
			return "", fmt.Errorf("%s is in no checkout of %s", dir, recipe.Module)
		}
		at = above
	}
}

// OtherGo returns a warning if this Go version differs from the published images' version, or "".
func OtherGo() string {
	if runtime.Version() == "go"+recipe.GoVersion {
		return ""
	}
	return fmt.Sprintf("this is %s, published images are built with go%s: the digests will differ", runtime.Version(), recipe.GoVersion)
}
