package pins_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"github.com/carve-ipam/carve/tools/image/programs"
)

// repository returns the root of the checkout and its files with wanted names, without built or downloaded ones.
func repository(t *testing.T, wanted func(name string) bool) (repo string, found []string) {
	t.Helper()
	repo, err := programs.Repository(".")
	require.NoError(t, err)
	require.NoError(t, filepath.WalkDir(repo, func(at string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(repo, at)
		if err != nil {
			return err
		}
		if e.IsDir() && (name == "bin" || name == "dist" || name == "data" || e.Name() == "node_modules" || e.Name() == ".git") {
			return fs.SkipDir
		}
		if !e.IsDir() && wanted(filepath.ToSlash(name)) {
			found = append(found, name)
		}
		return nil
	}))
	require.NotEmpty(t, found, "a check that finds nothing to check has failed")
	return repo, found
}

func TestEveryGoModuleHasItsHashes(t *testing.T) {
	t.Parallel()
	repo, mods := repository(t, func(name string) bool { return strings.HasSuffix(name, ".mod") })
	for _, name := range mods {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(filepath.Join(repo, name))
			require.NoError(t, err)
			mod, err := modfile.Parse(name, text, nil)
			require.NoError(t, err)
			sums, err := os.ReadFile(filepath.Join(repo, strings.TrimSuffix(name, ".mod")+".sum"))
			if len(mod.Require) > 0 {
				require.NoError(t, err, "what it needs has no hashes")
			}
			replaced := map[string]module.Version{}
			for _, r := range mod.Replace {
				replaced[r.Old.Path] = r.New
				if r.New.Version == "" {
					_, err := os.Stat(filepath.Join(repo, filepath.Dir(name), r.New.Path, "go.mod"))
					assert.NoError(t, err, "%s is replaced by something that is not in this repository", r.Old.Path)
				}
			}
			for _, r := range mod.Require {
				used := r.Mod
				if by, ok := replaced[used.Path]; ok {
					used = by
				}
				if used.Version != "" { // a directory of this repository has none
					hashed := strings.Contains(string(sums), used.Path+" "+used.Version) // a variable, so that a failure does not print the whole file
					assert.True(t, hashed, "%s has no hash", used)
				}
			}
		})
	}
}

var (
	exact     = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)
	integrity = regexp.MustCompile(`^sha512-[A-Za-z0-9+/]{86}==$`)
)

// problems returns the unpinned dependencies in a package.json and its lock file.
func problems(manifest, lock []byte) []string {
	type dependencies map[string]string
	var m struct {
		Dependencies    dependencies `json:"dependencies"`
		DevDependencies dependencies `json:"devDependencies"`
	}
	var l struct {
		Version  int `json:"lockfileVersion"`
		Packages map[string]struct {
			Version, Integrity, Resolved string
			Link, InBundle               bool
		} `json:"packages"`
	}
	if err := json.Unmarshal(manifest, &m); err != nil {
		return []string{err.Error()}
	}
	if err := json.Unmarshal(lock, &l); err != nil {
		return []string{err.Error()}
	}
	var all []string
	if l.Version != 3 {
		all = append(all, "the lock file is not of version 3")
	}
	for _, d := range []dependencies{m.Dependencies, m.DevDependencies} {
		for name, version := range d {
			if !exact.MatchString(version) {
				all = append(all, name+" is asked for as "+version+", and not as one version")
			}
		}
	}
	for name, p := range l.Packages {
		switch {
		case name == "" || p.Link || p.InBundle: // the package itself; a directory; a part of another package, whose hash covers it
		case !strings.Contains(name, "node_modules/"): // a directory of this repository
		case !exact.MatchString(p.Version) || !integrity.MatchString(p.Integrity):
			all = append(all, name+" has no exact version with a hash")
		case strings.HasPrefix(p.Resolved, "git") || strings.HasPrefix(p.Resolved, "http:"):
			all = append(all, name+" comes from "+p.Resolved)
		}
	}
	return all
}

func TestEveryNPMPackageHasItsHash(t *testing.T) {
	t.Parallel()
	repo, manifests := repository(t, func(name string) bool { return strings.HasSuffix(name, "/package.json") })
	for _, name := range manifests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			manifest, err := os.ReadFile(filepath.Join(repo, name))
			require.NoError(t, err)
			lock, err := os.ReadFile(filepath.Join(repo, filepath.Dir(name), "package-lock.json"))
			if os.IsNotExist(err) {
				lock = []byte(`{"lockfileVersion":3,"packages":{}}`)
				require.NotRegexp(t, `"(d|devD|optionalD)ependencies"`, string(manifest), "it needs packages, and pins none: npm install --package-lock-only")
			}
			assert.Empty(t, problems(manifest, lock))
		})
	}
}

func TestUnpinnedPackageIsReported(t *testing.T) {
	t.Parallel()
	good := `{"version":"1.2.3","integrity":"sha512-` + strings.Repeat("A", 86) + `=="}`
	for name, c := range map[string]struct {
		manifest, lock string
		wrong          int
	}{
		"Pinned":     {`{"dependencies":{"a":"1.2.3"}}`, `{"lockfileVersion":3,"packages":{"":{},"node_modules/a":` + good + `}}`, 0},
		"Range":      {`{"devDependencies":{"a":"^1.2.3"}}`, `{"lockfileVersion":3,"packages":{"node_modules/a":` + good + `}}`, 1},
		"Tag":        {`{"dependencies":{"a":"latest"}}`, `{"lockfileVersion":3,"packages":{}}`, 1},
		"NoHash":     {`{}`, `{"lockfileVersion":3,"packages":{"node_modules/a":{"version":"1.2.3"}}}`, 1},
		"WeakHash":   {`{}`, `{"lockfileVersion":3,"packages":{"node_modules/a":{"version":"1.2.3","integrity":"sha1-AAAA"}}}`, 1},
		"FromGit":    {`{}`, `{"lockfileVersion":3,"packages":{"node_modules/a":` + strings.TrimSuffix(good, "}") + `,"resolved":"git+ssh://x"}}}`, 1},
		"OldLocking": {`{}`, `{"lockfileVersion":1}`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Len(t, problems([]byte(c.manifest), []byte(c.lock)), c.wrong)
		})
	}
}

// floating matches commands that use the newest version of the day, or run a download.
var floating = regexp.MustCompile(`go (install|get|run)\s[^#\n]*@latest|\bnpx (-y|--yes)\b|npm (install|i) (-g|--global)|(curl|wget)[^|\n]*\|\s*(ba|z)?sh\b|^\s*FROM\s+\S+(:latest|[^:\s]*$)`)

func TestNoScriptUsesAnUnpinnedVersion(t *testing.T) {
	t.Parallel()
	repo, scripts := repository(t, func(name string) bool {
		base := filepath.Base(name)
		return base == "Makefile" || strings.HasPrefix(base, "Dockerfile") || strings.HasSuffix(base, ".sh") || strings.HasPrefix(name, ".ci/") || strings.HasPrefix(name, ".github/")
	})
	for _, name := range scripts {
		text, err := os.ReadFile(filepath.Join(repo, name))
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			assert.NotRegexp(t, floating, strings.ReplaceAll(line, "FROM scratch", ""), name)
		}
	}
	for _, bad := range []string{"go install x/y@latest", "npx -y thing", "npm install -g thing", "curl -s x | bash", "FROM golang:latest AS b", "FROM debian"} {
		assert.Regexp(t, floating, bad)
	}
}
