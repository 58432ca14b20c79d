package licences

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"github.com/carve-ipam/carve/tools/image/recipe"
)

// product is a shipped program with its package.
type product struct {
	name, pkg, dir string // dir is its module's directory
	platforms      []recipe.Platform
}

// StandardLibrary is the component of the Go distribution. It has no version here, so that a new patch release changes no file.
const StandardLibrary = "Go standard library"

// products lists the shipped programs of this repository, with the platforms of releases.
func products() []product {
	unix := append([]recipe.Platform{{OS: "darwin", Arch: "arm64"}}, recipe.Platforms...)
	anywhere := append([]recipe.Platform{{OS: "windows", Arch: "amd64"}}, unix...)
	return []product{
		{"server", "./cmd/server", ".", unix},
		{"ipamctl", "./cmd/ipamctl", ".", anywhere},
		{"client", "./client", ".", anywhere},
		{"carve-controller", "./cmd/carve-controller", "controller", recipe.Platforms},
		{"terraform-provider-carve", ".", "terraform", anywhere},
	}
}

// listed is a package in the output of `go list`.
type listed struct {
	ImportPath, Dir string
	Standard        bool
	Module          *struct {
		Path, Version, Dir string
		Main               bool
		Replace            *struct{ Path, Version, Dir string }
	}
}

// linked finds the modules with packages that are linked into products, and reads these packages' licences. It reads the files in each package's
// directory, and in each parent directory up to the module's root. Packages of a module that no product links do not count. If a linked package has
// its own licence, that licence also counts.
func linked(ctx context.Context, repo string) (map[string]*Component, error) {
	all := map[string]*Component{}
	for _, p := range products() {
		for _, platform := range p.platforms {
			packages, err := list(ctx, filepath.Join(repo, p.dir), p.pkg, platform)
			if err != nil {
				return nil, err
			}
			for _, l := range packages {
				if err := add(all, l, p.name); err != nil {
					return nil, err
				}
			}
		}
	}
	if len(all) < 2 {
		return nil, errors.New("no module is linked into anything: something is wrong with the check")
	}
	return all, nil
}

func list(ctx context.Context, dir, pkg string, p recipe.Platform) ([]listed, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-json=ImportPath,Dir,Standard,Module", pkg) //nolint:gosec // the packages are those above
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), recipe.Environment(p)...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list %s for %s: %w\n%s", pkg, p, err, said.String())
	}
	var packages []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, err
		}
		packages = append(packages, l)
	}
}

func add(all map[string]*Component, l listed, in string) error {
	name, kind := StandardLibrary, Standard
	var version, root string
	switch {
	case l.Standard:
		root = goroot(l)
	case l.Module == nil:
		return fmt.Errorf("%s belongs to no module", l.ImportPath)
	case l.Module.Main, l.Module.Path == recipe.Module: // this repository's own
		return nil
	default:
		name, version, root, kind = l.Module.Path, l.Module.Version, l.Module.Dir, Module
		if r := l.Module.Replace; r != nil {
			version, root = r.Version+" of "+r.Path, r.Dir
		}
	}
	c := all[name]
	if c == nil {
		c = &Component{Name: name, Version: version, Kind: kind}
		all[name] = c
	}
	if c.Version != version {
		return fmt.Errorf("%s is linked as %s, and as %s into %s: have all modules need the same", name, c.Version, version, in)
	}
	c.In = append(c.In, in)
	inside, err := filepath.Rel(root, l.Dir)
	if err != nil {
		return err
	}
	licensed, files := false, os.DirFS(root)
	for dir := filepath.ToSlash(inside); ; dir = path.Dir(dir) {
		here, err := c.read(files, dir)
		if err != nil {
			return err
		}
		licensed = licensed || here
		if dir == "." {
			break
		}
	}
	if !licensed {
		return fmt.Errorf("%s %s has no licence beside %s or above it", name, version, l.ImportPath)
	}
	return nil
}

// goroot returns the directory of the Go distribution with a package of the standard library.
func goroot(l listed) string {
	return strings.TrimSuffix(filepath.ToSlash(l.Dir), "/src/"+l.ImportPath)
}
