package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/carve-ipam/carve/tools/image/pack"
	"github.com/carve-ipam/carve/tools/image/recipe"
)

// address is the provider's address in Terraform configurations.
const address = "registry.terraform.io/carve-ipam/carve"

// providers writes Terraform's provider for all platforms into a directory that Terraform can use as a mirror.
func (r *release) providers(ctx context.Context) error {
	for _, p := range platforms {
		if err := r.provider(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

func (r *release) provider(ctx context.Context, p recipe.Platform) error {
	dir, err := r.programs(ctx, recipe.Provider, p)
	if err != nil {
		return err
	}
	program, err := os.ReadFile(filepath.Join(dir, recipe.Provider.Name+p.Suffix()))
	if err != nil {
		return err
	}
	content, err := zipped([]entry{
		{"LICENSE", fileMode, r.licence}, {"THIRD_PARTY_LICENSES", fileMode, r.notices},
		{recipe.Provider.Name + "_v" + r.version + p.Suffix(), programMode, program},
	}, r.created)
	if err != nil {
		return err
	}
	name := "terraform/" + address + "/" + recipe.Provider.Name + "_" + r.version + "_" + p.OS + "_" + p.Arch + ".zip"
	if err := r.write(name, content); err != nil {
		return err
	}
	return r.bill(recipe.Provider, p, dir, name)
}

// images writes the files of each image. One archive has all platforms (an OCI layout). Another archive is for `docker load`, and has only the
// platform of this machine's processor. Each platform has a bill of materials.
func (r *release) images(ctx context.Context) error {
	for _, image := range recipe.Images {
		dir := filepath.Join(r.work, "image-"+image.Name)
		if _, err := pack.Image(ctx, r.repo, dir, recipe.Stamp{Image: image, Version: r.version, Commit: r.commit, Created: r.created}); err != nil {
			return err
		}
		entries, err := tree(filepath.Join(dir, image.Layout()), "")
		if err != nil {
			return err
		}
		var layout bytes.Buffer
		if err := tarball(&layout, entries, r.created); err != nil {
			return err
		}
		base := image.Name + "-image_" + r.version
		if err := r.write(base+".oci.tar", layout.Bytes()); err != nil {
			return err
		}
		engine, err := os.ReadFile(filepath.Join(dir, image.Archive()))
		if err != nil {
			return err
		}
		if err := r.write(base+"_"+recipe.Here().OS+"_"+recipe.Here().Arch+".docker.tar", engine); err != nil {
			return err
		}
		for _, p := range recipe.Platforms {
			document, err := os.ReadFile(filepath.Join(dir, image.SBOM(p)))
			if err != nil {
				return err
			}
			if err := r.write(base+"_"+p.OS+"_"+p.Arch+".spdx.json", document); err != nil {
				return err
			}
		}
	}
	return nil
}

// charts writes both charts for `helm install`. It omits the files in .helmignore, which are the tests of the alerts.
func (r *release) charts(context.Context) error {
	for _, name := range []string{"carve", "carve-controller"} {
		entries, err := tree(filepath.Join(r.repo, "helm", name), name)
		if err != nil {
			return err
		}
		entries = slices.DeleteFunc(entries, func(e entry) bool { return strings.HasSuffix(e.name, "_test.yaml") })
		content, err := tgz(entries, r.created)
		if err != nil {
			return err
		}
		if err := r.write(name+"-chart-"+r.version+".tgz", content); err != nil {
			return err
		}
	}
	return nil
}

// npm packs the TypeScript client, which `make client-ts` has built.
func (r *release) npm(ctx context.Context) error {
	dir := filepath.Join(r.repo, "clients", "typescript")
	if _, err := os.Stat(filepath.Join(dir, "dist", "src", "index.js")); err != nil {
		return fmt.Errorf("the TypeScript client is not built (make client-ts): %w", err)
	}
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, "npm", "pack", "--ignore-scripts", "--silent", "--pack-destination="+r.work)
	cmd.Dir, cmd.Stderr = dir, &said
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("npm pack: %w: %s", err, said.String())
	}
	content, err := os.ReadFile(filepath.Join(r.work, strings.TrimSpace(string(out))))
	if err != nil {
		return err
	}
	return r.write("carve-client-npm-"+r.version+".tgz", content)
}

// module writes the Go module, which contains the package client, as a directory for GOPROXY. Users with network access do not need this directory,
// because the repository's tag v0.1.0 provides the module.
func (r *release) module(ctx context.Context) error {
	tracked, err := r.tracked(ctx)
	if err != nil {
		return err
	}
	var list []zip.File
	for _, name := range tracked {
		if inModule(tracked, name) {
			list = append(list, source{r.repo, name})
		}
	}
	version := module.Version{Path: recipe.Module, Version: "v" + r.version}
	var content bytes.Buffer
	if err := zip.Create(&content, version, list); err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(r.repo, "go.mod"))
	if err != nil {
		return err
	}
	info, err := json.Marshal(struct {
		Version string
		Time    time.Time
	}{version.Version, r.created})
	if err != nil {
		return err
	}
	at := "goproxy/" + recipe.Module + "/@v/"
	for name, content := range map[string][]byte{
		version.Version + ".zip": content.Bytes(), version.Version + ".mod": mod, version.Version + ".info": info, "list": []byte(version.Version + "\n"),
	} {
		if err := r.write(at+name, content); err != nil {
			return err
		}
	}
	return nil
}

// tracked returns the files of the checkout that git tracks.
func (r *release) tracked(ctx context.Context) ([]string, error) {
	cmd := exec.CommandContext(ctx, "git", "ls-files", "-z")
	cmd.Dir = r.repo
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	names := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if len(names) < 2 {
		return nil, errors.New("git tracks no files here")
	}
	return names, nil
}

// inModule reports whether a file belongs to the root module, and not to a module in a folder below.
func inModule(all []string, name string) bool {
	for _, other := range all {
		if below, found := strings.CutSuffix(other, "/go.mod"); found && strings.HasPrefix(name, below+"/") {
			return false
		}
	}
	return true
}

// source is a file of the module.
type source struct{ repo, name string }

func (s source) Path() string                 { return s.name }
func (s source) Lstat() (os.FileInfo, error)  { return os.Lstat(filepath.Join(s.repo, s.name)) }
func (s source) Open() (io.ReadCloser, error) { return os.Open(filepath.Join(s.repo, s.name)) }
