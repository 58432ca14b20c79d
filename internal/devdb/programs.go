//go:build unix

package devdb

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// oldestMajor is the oldest PostgreSQL major version that Carve supports.
const oldestMajor = 15

// programs is a directory with PostgreSQL's server programs.
type programs struct {
	dir   string
	major int
}

func (p programs) path(name string) string { return filepath.Join(p.dir, name) }

// findPostgres returns the best usable programs. If wantMajor is 0, it accepts any supported major version, and otherwise only wantMajor.
func (h *directory) findPostgres(ctx context.Context, wantMajor int) (programs, error) {
	var seen []string
	var others []string
	for _, dir := range programDirs() {
		p, err := h.inspect(ctx, dir)
		switch {
		case ctx.Err() != nil:
			return programs{}, ctx.Err()
		case err != nil:
			seen = append(seen, fmt.Sprintf("%s: %v", dir, err))
		case wantMajor == 0 && p.major < oldestMajor:
			seen = append(seen, fmt.Sprintf("%s: version %d is too old", dir, p.major))
		case wantMajor != 0 && p.major != wantMajor:
			others = append(others, fmt.Sprintf("%d in %s", p.major, dir))
		default:
			return p, nil
		}
	}
	if len(others) > 0 {
		return programs{}, fmt.Errorf("%w: PostgreSQL %d wrote it, but this machine has %s. "+
			"Install PostgreSQL %d, or dump the data and load it into a new directory", ErrVersion, wantMajor, strings.Join(others, ", "), wantMajor)
	}
	version := fmt.Sprintf("%d or newer", oldestMajor)
	if wantMajor > 0 {
		version = fmt.Sprintf("%d, which wrote this data", wantMajor)
	}
	return programs{}, fmt.Errorf("%w: no server programs of PostgreSQL %s; install them (package postgresql of Debian and Ubuntu, or `make deps` in a checkout), "+
		"or set %s to their directory, or use your own database with --database-url%s", ErrMissing, version, EnvPostgresBin, lines(seen))
}

// programDirs returns the directories with a server's programs, best first.
func programDirs() []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(clientDirs(), func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, "postgres"))
		again := seen[dir]
		seen[dir] = true
		return again || os.IsNotExist(err)
	})
}

// clientDirs returns the directories that may contain PostgreSQL's programs, best first. If EnvPostgresBin is set, it returns only that directory.
// Otherwise it returns:
//
//   - postgres' directory on the search path
//   - Debian's directories, newest version first
//   - the directories that tools/postgres/install.sh fills, for the machine and for this user
//
// No path is relative to the working directory. Otherwise this user could run programs that another user has put there.
func clientDirs() []string {
	if dir := os.Getenv(EnvPostgresBin); dir != "" {
		return []string{dir}
	}
	var dirs []string
	if path, err := exec.LookPath("postgres"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			dirs = append(dirs, filepath.Dir(path))
		}
	}
	debian, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	slices.SortFunc(debian, func(a, b string) int { return majorInPath(b) - majorInPath(a) })
	dirs = append(dirs, debian...)
	dirs = append(dirs, "/var/cache/carve/postgres/bin")
	if cache, err := os.UserCacheDir(); err == nil {
		dirs = append(dirs, filepath.Join(cache, "carve", "postgres", "bin"))
	}
	return dirs
}

// majorInPath reads 15 from /usr/lib/postgresql/15/bin.
func majorInPath(bin string) int {
	major, _ := strconv.Atoi(filepath.Base(filepath.Dir(bin)))
	return major
}

var versionLine = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

// inspect runs the programs to read their version, as the user that will run them.
func (h *directory) inspect(ctx context.Context, dir string) (programs, error) {
	p := programs{dir: dir}
	for _, name := range []string{"initdb", "postgres"} {
		cmd := exec.Command(p.path(name), "--version")
		cmd.Dir, cmd.Env = "/", postgresEnv()
		out, err := h.run(ctx, cmd)
		if err != nil {
			return p, fmt.Errorf("%w %s", err, out)
		}
		if p.major, err = majorOf(name, out); err != nil {
			return p, err
		}
	}
	return p, nil
}
