package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/carve-ipam/carve/tools/image/licences"
	"github.com/carve-ipam/carve/tools/image/programs"
	"github.com/carve-ipam/carve/tools/image/recipe"
	"github.com/carve-ipam/carve/tools/image/sbom"
)

// platforms has the platforms of a release. Windows only has ipamctl, because the server's embedded database and file handling need a Unix.
var platforms = []recipe.Platform{
	{OS: "linux", Arch: "amd64"}, {OS: "linux", Arch: "arm64"}, {OS: "darwin", Arch: "amd64"}, {OS: "darwin", Arch: "arm64"},
	{OS: "windows", Arch: "amd64"}, {OS: "windows", Arch: "arm64"},
}

// installed maps programs to their installed names. Other programs keep their names.
var installed = map[string]string{"server": "carve-server"}

// release is a release under construction.
type release struct {
	repo, out, work    string
	version, commit    string
	created            time.Time
	licence, notices   []byte
	changelog          []byte
	pages, completions []entry
	components         []licences.Component
}

// newRelease reads the common inputs.
func newRelease(repo, out, commit string) (*release, error) {
	v, err := version(repo)
	if err != nil {
		return nil, err
	}
	if wrong, err := misplaced(repo, v, false); err != nil || len(wrong) > 0 {
		return nil, fmt.Errorf("VERSION says %s, and these say something else (make version): %v %w", v, wrong, err)
	}
	created, err := recipe.Epoch(os.Getenv("SOURCE_DATE_EPOCH"))
	if err != nil {
		return nil, err
	}
	r := &release{repo: repo, out: out, version: v, commit: commit, created: created}
	for name, text := range map[string]*[]byte{"LICENSE": &r.licence, "THIRD_PARTY_LICENSES": &r.notices, "CHANGELOG.md": &r.changelog} {
		if *text, err = os.ReadFile(filepath.Join(repo, name)); err != nil {
			return nil, err
		}
	}
	if r.pages, r.completions, err = manual(v, created); err != nil {
		return nil, err
	}
	if err := os.RemoveAll(out); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(out, 0o755); err != nil { //nolint:gosec // G301: for everybody to read
		return nil, err
	}
	r.work, err = os.MkdirTemp("", "carve-release-")
	return r, err
}

func (r *release) clean() { _ = os.RemoveAll(r.work) }

// build builds the whole release. If the parameter only names a platform, build builds only the archive and packages of that platform.
func (r *release) build(ctx context.Context, only string) error {
	if note := programs.OtherGo(); note != "" {
		fmt.Println("note: " + note)
	}
	var err error
	if r.components, err = licences.Scan(ctx, r.repo); err != nil {
		return err
	}
	if err := licences.Refused(r.components); err != nil {
		return err
	}
	wanted := platforms
	if only != "" {
		p, err := parse(only)
		if err != nil {
			return err
		}
		wanted = []recipe.Platform{p}
	}
	for _, p := range wanted {
		if err := r.platform(ctx, p, only == ""); err != nil {
			return err
		}
	}
	if only == "" {
		for _, make := range []func(context.Context) error{r.providers, r.images, r.charts, r.npm, r.module} {
			if err := make(ctx); err != nil {
				return err
			}
		}
	}
	return r.sums()
}

// platform builds a platform's packages and the archive of the programs. If controller is set, it also builds the archive of the controller.
func (r *release) platform(ctx context.Context, p recipe.Platform, controller bool) error {
	server := recipe.Server
	if p.OS == "windows" {
		server.Name, server.Programs = "ipamctl", []string{"ipamctl"}
	}
	dir, err := r.archive(ctx, server, p, append(below("man", r.manuals(p)), below("completions", r.completions)...))
	if err != nil {
		return err
	}
	if p.OS != "linux" {
		return nil
	}
	if controller {
		if _, err := r.archive(ctx, recipe.Controller, p, nil); err != nil {
			return err
		}
	}
	names, err := r.packages(p, dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		image := recipe.Server
		if strings.HasPrefix(name, "ipamctl") {
			image.Name, image.Programs = "ipamctl", []string{"ipamctl"}
		} else {
			image.Name, image.Programs = "carve-server", []string{"server"}
		}
		if err := r.bill(image, p, dir, name); err != nil {
			return err
		}
	}
	return nil
}

// manuals returns the man pages of an archive's programs.
func (r *release) manuals(p recipe.Platform) []entry {
	if p.OS == "windows" {
		return r.section("man1/")
	}
	return r.pages
}

// archive builds programs for a platform, and writes their archive with its bill of materials. It returns the programs' directory.
func (r *release) archive(ctx context.Context, image recipe.Image, p recipe.Platform, more []entry) (dir string, err error) {
	if dir, err = r.programs(ctx, image, p); err != nil {
		return "", err
	}
	base := image.Name + "_" + r.version + "_" + p.OS + "_" + p.Arch
	entries := append([]entry{
		{"LICENSE", fileMode, r.licence}, {"THIRD_PARTY_LICENSES", fileMode, r.notices}, {"CHANGELOG.md", fileMode, r.changelog},
	}, more...)
	for _, name := range image.Programs {
		content, err := os.ReadFile(filepath.Join(dir, name+p.Suffix()))
		if err != nil {
			return "", err
		}
		called := name
		if other := installed[name]; other != "" {
			called = other
		}
		entries = append(entries, entry{called + p.Suffix(), programMode, content})
	}
	pack, suffix := tgz, ".tar.gz"
	if p.OS == "windows" {
		pack, suffix = zipped, ".zip"
	}
	content, err := pack(below(base, entries), r.created)
	if err != nil {
		return "", err
	}
	if err := r.write(base+suffix, content); err != nil {
		return "", err
	}
	return dir, r.bill(image, p, dir, base+suffix)
}

// programs builds the programs of an image or of the Terraform provider, and returns their directory.
func (r *release) programs(ctx context.Context, image recipe.Image, p recipe.Platform) (dir string, err error) {
	dir = filepath.Join(r.work, image.Name+"-"+p.Dashed())
	return dir, programs.Build(ctx, r.repo, dir, p, recipe.Stamp{Image: image, Version: r.version, Commit: r.commit, Created: r.created})
}

// bill writes a built file's bill of materials.
func (r *release) bill(image recipe.Image, p recipe.Platform, dir, name string) error {
	sum, err := sumOf(filepath.Join(r.out, name))
	if err != nil {
		return err
	}
	document, err := sbom.Document(sbom.Subject{
		Platform: p, Stamp: recipe.Stamp{Image: image, Version: r.version, Commit: r.commit, Created: r.created},
		File: name, Digest: "sha256:" + sum, Dir: dir, Components: r.components,
	})
	if err != nil {
		return err
	}
	at := filepath.Join(r.out, filepath.Base(name)+".spdx.json")
	return os.WriteFile(at, document, fileMode)
}

func (r *release) write(name string, content []byte) error {
	fmt.Printf("%8.1f MB  %s\n", float64(len(content))/1e6, name)
	at := filepath.Join(r.out, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil { //nolint:gosec // G301: for everybody to read
		return err
	}
	return os.WriteFile(at, content, fileMode)
}

// checksums is the file with the checksums of all other files.
const checksums = "SHA256SUMS"

func (r *release) sums() error {
	names, err := filesIn(r.out)
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, name := range names {
		sum, err := sumOf(filepath.Join(r.out, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%s  %s\n", sum, name)
	}
	return r.write(checksums, []byte(text.String()))
}

// filesIn lists the files below a directory, in order.
func filesIn(dir string) ([]string, error) {
	var names []string
	err := filepath.WalkDir(dir, func(at string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, at)
		names = append(names, filepath.ToSlash(name))
		return err
	})
	slices.Sort(names)
	return names, err
}

func sumOf(file string) (string, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:]), nil
}

// verify returns an error with the files that differ between two directories.
func verify(a, b string) error {
	var all []string
	for _, dir := range []string{a, b} {
		names, err := filesIn(dir)
		if err != nil {
			return err
		}
		all = append(all, names...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	var differ []string
	for _, name := range all {
		one, errOne := sumOf(filepath.Join(a, name))
		other, errOther := sumOf(filepath.Join(b, name))
		if errOne != nil || errOther != nil || one != other {
			differ = append(differ, name)
		}
	}
	if len(differ) > 0 || len(all) == 0 {
		return fmt.Errorf("%d of %d files differ: %s", len(differ), len(all), strings.Join(differ, ", "))
	}
	fmt.Printf("%d files, all of them equal\n", len(all))
	return nil
}
