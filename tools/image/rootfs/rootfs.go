// Package rootfs lists all files of the image. The image contains nothing else. It has no shell, no package manager and no loader for shared
// libraries.
package rootfs

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/tools/image/recipe"
)

// Entry is a file or a directory. All entries belong to root, so the user that runs the programs cannot change them.
type Entry struct {
	// Path is relative to the root, with slashes, and without a leading slash.
	Path string
	// Mode has the permissions and the sticky bit, as in chmod.
	Mode int64
	Dir  bool
	// Content of a file.
	Content []byte
}

// Layer is a set of entries that change together.
type Layer struct {
	// About is the text in the image's history.
	About   string
	Entries []Entry
}

const (
	dirMode     = 0o755
	fileMode    = 0o644
	programMode = 0o755
	tmpMode     = 0o1777
)

// Certificates is the path where Go programs, and most others, look for trusted authorities.
const Certificates = "etc/ssl/certs/ca-certificates.crt"

// Notices is the directory of licences.
const Notices = "usr/share/doc/carve"

// passwd and group give the user's number a name, because some programs and people need a name.
const (
	passwd = "root:x:0:0:root:/:/sbin/nologin\n" + recipe.UserName + ":x:65532:65532:Carve:/nonexistent:/sbin/nologin\n"
	group  = "root:x:0:\n" + recipe.UserName + ":x:65532:\n"
)

// Base returns everything except the programs. repo is the checkout from which it reads the licences.
func Base(repo string) (Layer, error) {
	roots, err := certificates()
	if err != nil {
		return Layer{}, err
	}
	l := Layer{About: "users, certificate authorities, licences, /tmp", Entries: []Entry{
		{Path: "tmp", Mode: tmpMode, Dir: true},
		{Path: "etc/passwd", Mode: fileMode, Content: []byte(passwd)},
		{Path: "etc/group", Mode: fileMode, Content: []byte(group)},
		{Path: Certificates, Mode: fileMode, Content: roots},
	}}
	for _, name := range []string{"LICENSE", "THIRD_PARTY_LICENSES"} {
		text, err := os.ReadFile(filepath.Join(repo, name))
		if err != nil {
			return Layer{}, fmt.Errorf("the image carries its licences: %w", err)
		}
		l.Entries = append(l.Entries, Entry{Path: Notices + "/" + name, Mode: fileMode, Content: text})
	}
	l.Entries = withParents(l.Entries)
	return l, nil
}

// Program returns the layer of one program in dir.
func Program(dir, name string) (Layer, error) {
	content, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return Layer{}, err
	}
	return Layer{About: "/" + name, Entries: []Entry{{Path: name, Mode: programMode, Content: content}}}, nil
}

// withParents adds the parent directories of entries. It sorts all entries by name, with directories before their contents, so that archives are
// reproducible.
func withParents(entries []Entry) []Entry {
	seen := map[string]bool{}
	for _, e := range entries {
		seen[e.Path] = true
	}
	for _, e := range slices.Clone(entries) {
		for dir := path.Dir(e.Path); dir != "." && !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
			entries = append(entries, Entry{Path: dir, Mode: dirMode, Dir: true})
		}
	}
	slices.SortFunc(entries, func(a, b Entry) int {
		return slices.Compare(strings.Split(a.Path, "/"), strings.Split(b.Path, "/"))
	})
	return entries
}
