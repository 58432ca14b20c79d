package licences

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// shipped is a package from npm's registry that this repository ships.
type shipped struct {
	// lock is the lock file that pins the package. name is the package's name in the lock file.
	lock, name string
	// files is the directory with an exact copy of the package's files, including its licence. `make verify` compares the copy.
	files string
	in    []string
}

var fromNPM = []shipped{
	{lock: "tools/swagger-ui/package-lock.json", name: "swagger-ui-dist", files: "internal/api/docs/dist", in: []string{"server"}},
}

// lockFile has the parts of a package-lock.json that this program reads.
type lockFile struct {
	Packages map[string]struct {
		Version string            `json:"version"`
		Licence json.RawMessage   `json:"license"`
		Needs   map[string]string `json:"dependencies"`
	} `json:"packages"`
}

func readLock(repo, name string) (lockFile, error) {
	var l lockFile
	text, err := os.ReadFile(filepath.Join(repo, filepath.FromSlash(name)))
	if err == nil {
		err = json.Unmarshal(text, &l)
	}
	if err != nil {
		return l, fmt.Errorf("%s: %w", name, err)
	}
	return l, nil
}

// vendored reads the packages whose files are in this repository. The licence in the lock file must match the licence's text.
func vendored(repo string) (map[string]*Component, error) {
	all := map[string]*Component{}
	for _, s := range fromNPM {
		lock, err := readLock(repo, s.lock)
		if err != nil {
			return nil, err
		}
		p, ok := lock.Packages["node_modules/"+s.name]
		if !ok {
			return nil, fmt.Errorf("%s does not pin %s", s.lock, s.name)
		}
		c := &Component{Name: s.name, Version: p.Version, Kind: NPM, In: s.in}
		files := os.DirFS(filepath.Join(repo, filepath.FromSlash(s.files)))
		licensed, err := c.read(files, ".")
		if err != nil {
			return nil, err
		}
		said := strings.Trim(string(p.Licence), `"`)
		slices.Sort(c.Licences)
		if expression := strings.Join(slices.Compact(c.Licences), " AND "); !licensed || expression != said {
			return nil, fmt.Errorf("%s %s: its licence is %q by the lock file, and %q by the text beside it", s.name, p.Version, said, expression)
		}
		if err := c.readBanners(files); err != nil {
			return nil, err
		}
		all[s.name] = c
	}
	return all, nil
}

// readBanners adds the licences from a bundler's NAME.LICENSE.txt. The bundler collects the comments at the beginning of the bundled sources there.
// These comments name licences, but do not contain their texts.
func (c *Component) readBanners(files fs.FS) error {
	banners, err := fs.Glob(files, "*.js.LICENSE.txt")
	if err != nil {
		return err
	}
	for _, name := range banners {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		ids, err := banner(string(text))
		if err != nil {
			return fmt.Errorf("%s: %s: %w", c.Name, name, err)
		}
		c.Licences = append(c.Licences, ids...)
		c.Texts = append(c.Texts, Text{File: name, Content: string(text)})
	}
	return nil
}

// published reads the packages that a client's installation includes, and the console's packages. These are all packages in a lock file, except
// development dependencies.
func published(repo string) (map[string]*Component, error) {
	all := map[string]*Component{}
	locks, err := filepath.Glob(filepath.Join(repo, "clients", "*", "package-lock.json"))
	if err != nil {
		return nil, err
	}
	for _, at := range append(locks, filepath.Join(repo, "console", "package-lock.json")) {
		name, err := filepath.Rel(repo, at)
		if err != nil {
			return nil, err
		}
		lock, err := readLock(repo, filepath.ToSlash(name))
		if err != nil {
			return nil, err
		}
		in := filepath.Base(filepath.Dir(at)) + " client"
		if name == filepath.Join("console", "package-lock.json") {
			in = "server"
		}
		wanted, seen := []string{""}, map[string]bool{}
		for len(wanted) > 0 {
			p := lock.Packages[wanted[0]]
			wanted = wanted[1:]
			for needed := range p.Needs {
				key := "node_modules/" + needed
				q, ok := lock.Packages[key]
				if !ok {
					return nil, fmt.Errorf("%s does not pin %s", name, needed)
				}
				if seen[key] {
					continue
				}
				seen[key] = true
				wanted = append(wanted, key)
				if known := all[needed]; known != nil && known.Version == q.Version {
					known.In = append(known.In, in)
					continue
				}
				id := cmp.Or(strings.Trim(string(q.Licence), `"`), "NOASSERTION")
				all[needed] = &Component{Name: needed, Version: q.Version, Kind: NPM, Licences: []string{id}, In: []string{in}}
			}
		}
	}
	return all, nil
}
