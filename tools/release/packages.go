package main

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // registers the .deb format
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm" // registers the .rpm format

	"github.com/carve-ipam/carve/tools/image/recipe"
)

//go:embed packaging
var packaging embed.FS

// Descriptions of the packages. The first line is the summary, and the rest is a longer text.
const (
	aboutTool = `Command line of Carve, IP address management
Asks a Carve server for address space, shows what is held and what is free,
and gives it back; and works on the database of a server.`
	aboutServer = `IP address management over HTTP
Carve hands out blocks of addresses: every one to one claim, by one call.
The service runs on an embedded PostgreSQL, or on a PostgreSQL or
CockroachDB of your own.`
)

// formats of packages for Linux.
var formats = []string{"deb", "rpm"}

// packed is a package under construction. It has a directory with the files as on the target machine, and the configuration of nfpm.
type packed struct {
	root                string
	info                *nfpm.Info
	when                time.Time
	depends, recommends map[string]string // in each format's syntax
}

// newPacked begins a package with the common contents.
func (r *release) newPacked(name, about string, p recipe.Platform) (*packed, error) {
	root, err := os.MkdirTemp(r.work, name+"-")
	if err != nil {
		return nil, err
	}
	k := &packed{root: root, when: r.created, info: &nfpm.Info{
		Name: name, Arch: p.Arch, Platform: p.OS, Version: r.version, VersionSchema: "semver", Release: "1",
		Section: "net", Priority: "optional",
		Maintainer: "The Carve authors <carve@carve-ipam.invalid>", Vendor: "The Carve authors", Homepage: "https://" + recipe.Module, License: "Apache-2.0",
		Description: about, MTime: r.created, DisableGlobbing: true,
	}}
	k.info.RPM.BuildHost, k.info.RPM.Summary = "localhost", strings.SplitN(about, "\n", 2)[0]
	k.info.Deb.Compression, k.info.RPM.Compression = "gzip", "gzip"
	doc := "/usr/share/doc/" + name
	var changes bytes.Buffer
	z, _ := gzip.NewWriterLevel(&changes, gzip.BestCompression) // the level is valid
	if _, err := z.Write(r.changelog); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	for path, content := range map[string][]byte{
		doc + "/copyright": r.licence, doc + "/THIRD_PARTY_LICENSES": r.notices, doc + "/changelog.gz": changes.Bytes(),
	} {
		if err := k.add(path, content, fileMode, ""); err != nil {
			return nil, err
		}
	}
	return k, nil
}

// add adds a file to the package. The kind is a file type of nfpm. It is "" for most files, and config|noreplace for files that users change.
func (k *packed) add(path string, content []byte, mode fs.FileMode, kind string) error {
	at := filepath.Join(k.root, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(at), 0o750); err != nil {
		return err
	}
	if err := os.WriteFile(at, content, mode); err != nil {
		return err
	}
	k.info.Contents = append(k.info.Contents, &files.Content{
		Source: at, Destination: path, Type: kind, FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: mode, MTime: k.when},
	})
	return nil
}

// pages adds man pages. It compresses them, as Linux distributions do.
func (k *packed) pages(pages []entry) error {
	for _, page := range pages {
		var out bytes.Buffer
		z, _ := gzip.NewWriterLevel(&out, gzip.BestCompression)
		if _, err := z.Write(page.content); err != nil {
			return err
		}
		if err := z.Close(); err != nil {
			return err
		}
		if err := k.add("/usr/share/man/"+page.name+".gz", out.Bytes(), fileMode, ""); err != nil {
			return err
		}
	}
	return nil
}

// write builds the package in each format, and returns the names of the files.
func (k *packed) write(out string) ([]string, error) {
	var names []string
	for _, format := range formats {
		packager, err := nfpm.Get(format)
		if err != nil {
			return nil, err
		}
		info := *k.info
		info.Contents = append(files.Contents(nil), k.info.Contents...)
		if words := k.depends[format]; words != "" {
			info.Depends = []string{words}
		}
		if words := k.recommends[format]; words != "" {
			info.Recommends = []string{words}
		}
		prepared := nfpm.WithDefaults(&info)
		if err := nfpm.PrepareForPackager(prepared, format); err != nil {
			return nil, err
		}
		var made bytes.Buffer
		if err := packager.Package(prepared, &made); err != nil {
			return nil, fmt.Errorf("%s of %s: %w", format, k.info.Name, err)
		}
		name := packager.ConventionalFileName(prepared)
		if err := os.WriteFile(filepath.Join(out, name), made.Bytes(), fileMode); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

// packages builds the packages of the server and of ipamctl for a platform, from the programs in dir.
func (r *release) packages(p recipe.Platform, dir string) ([]string, error) {
	tool, err := r.toolPackage(p, dir)
	if err != nil {
		return nil, err
	}
	server, err := r.serverPackage(p, dir)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, k := range []*packed{tool, server} {
		names, err := k.write(r.out)
		if err != nil {
			return nil, err
		}
		all = append(all, names...)
	}
	return all, nil
}

func (r *release) toolPackage(p recipe.Platform, dir string) (*packed, error) {
	k, err := r.newPacked("ipamctl", aboutTool, p)
	if err != nil {
		return nil, err
	}
	program, err := os.ReadFile(filepath.Join(dir, "ipamctl"))
	if err != nil {
		return nil, err
	}
	if err := k.add("/usr/bin/ipamctl", program, programMode, ""); err != nil {
		return nil, err
	}
	for name, path := range map[string]string{
		"ipamctl.bash": "/usr/share/bash-completion/completions/ipamctl", "_ipamctl": "/usr/share/zsh/site-functions/_ipamctl",
		"ipamctl.fish": "/usr/share/fish/vendor_completions.d/ipamctl.fish",
	} {
		for _, c := range r.completions {
			if c.name != name {
				continue
			}
			if err := k.add(path, c.content, fileMode, ""); err != nil {
				return nil, err
			}
		}
	}
	err = k.pages(r.section("man1/"))
	return k, err
}

func (r *release) serverPackage(p recipe.Platform, dir string) (*packed, error) {
	k, err := r.newPacked("carve-server", aboutServer, p)
	if err != nil {
		return nil, err
	}
	program, err := os.ReadFile(filepath.Join(dir, "server"))
	if err != nil {
		return nil, err
	}
	if err := k.add("/usr/bin/carve-server", program, programMode, ""); err != nil {
		return nil, err
	}
	for _, f := range []struct {
		name, path, kind string
		mode             fs.FileMode
	}{
		{"carve-server.service", "/usr/lib/systemd/system/carve-server.service", "", fileMode},
		{"carve.sysusers", "/usr/lib/sysusers.d/carve.conf", "", fileMode},
		{"server.env", "/etc/carve/server.env", files.TypeConfigNoReplace, 0o640},
	} {
		content, err := packaging.ReadFile("packaging/" + f.name)
		if err != nil {
			return nil, err
		}
		if err := k.add(f.path, content, f.mode, f.kind); err != nil {
			return nil, err
		}
	}
	for name, script := range map[string]*string{
		"server.postinst": &k.info.Scripts.PostInstall, "server.prerm": &k.info.Scripts.PreRemove, "server.postrm": &k.info.Scripts.PostRemove,
	} {
		content, err := packaging.ReadFile("packaging/" + name)
		if err != nil {
			return nil, err
		}
		*script = filepath.Join(k.root, name)
		if err := os.WriteFile(*script, content, 0o600); err != nil {
			return nil, err
		}
	}
	// ipamctl migrates the database, so it must not be older than the server. In both formats, a version with a tilde is older than the same version
	// without it. A pre-release therefore has a tilde.
	migrator := strings.Replace(r.version, "-", "~", 1)
	k.depends = map[string]string{"deb": "ipamctl (>= " + migrator + ")", "rpm": "ipamctl >= " + migrator}
	k.recommends = map[string]string{"deb": "postgresql-15 | postgresql-16 | postgresql-17 | postgresql-18", "rpm": "postgresql-server >= 15"}
	err = k.pages(r.section("man8/"))
	return k, err
}

// section returns the pages in one section of the manual.
func (r *release) section(name string) []entry {
	var pages []entry
	for _, p := range r.pages {
		if strings.HasPrefix(p.name, name) {
			pages = append(pages, p)
		}
	}
	return pages
}
