package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// place is the folder in which a page's commands run. It has links to all files of the checkout, but a separate home and data directory.
type place struct {
	root    string // the checkout
	bin     string // folder of server and ipamctl
	dir     string
	environ []string
	ports   map[string]string // real addresses, by the page's addresses
}

// written matches the addresses that pages use for their servers.
var written = regexp.MustCompile(`\b(?:127\.0\.0\.1|localhost):808[0-9]\b`)

// makePlace makes the folder. Its path is short, because a database's socket needs a short path. Other users may enter it, because the database may
// run as another user.
func makePlace(ctx context.Context, root, bin string) (_ *place, err error) {
	p := &place{root: root, bin: bin, ports: map[string]string{}}
	if p.dir, err = os.MkdirTemp("", "docs"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			p.remove()
		}
	}()
	if err := os.Chmod(p.dir, 0o755); err != nil { //nolint:gosec // the database's user has to get to its data
		return nil, err
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if name := e.Name(); name != "data" && name != ".git" {
			if err := os.Symlink(filepath.Join(root, name), filepath.Join(p.dir, name)); err != nil {
				return nil, err
			}
		}
	}
	if err := os.Mkdir(filepath.Join(p.dir, "home"), 0o700); err != nil {
		return nil, err
	}
	drawn := map[string]bool{}
	for n := range 10 {
		port, err := freePort(ctx, drawn)
		if err != nil {
			return nil, err
		}
		drawn[port] = true
		p.ports[fmt.Sprintf("127.0.0.1:808%d", n)] = "127.0.0.1:" + port
		p.ports[fmt.Sprintf("localhost:808%d", n)] = "localhost:" + port
	}
	p.environ = p.environment(ctx)
	return p, nil
}

func (p *place) remove() { _ = os.RemoveAll(p.dir) }

// freePort returns a free port that it has not returned before. It has four digits, like the ports on pages, so that columns keep their width.
func freePort(ctx context.Context, drawn map[string]bool) (port string, err error) {
	for range 100 {
		port = strconv.Itoa(3000 + rand.IntN(5000)) //nolint:gosec // nothing is guarded by it
		if drawn[port] {
			continue
		}
		var l net.Listener
		if l, err = (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:"+port); err == nil {
			return port, l.Close()
		}
	}
	return "", err
}

// environment returns this process's environment without variables that would lead commands to the user's own servers, files and settings. It keeps
// the settings of caches.
func (p *place) environment(ctx context.Context) []string {
	var env []string
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		switch {
		case strings.HasPrefix(name, "CARVE_") && name != "CARVE_POSTGRES_BIN", strings.HasPrefix(name, "OTEL_"), strings.HasPrefix(name, "XDG_"),
			name == "HOME", name == "PATH", strings.HasPrefix(name, "MAKE"), name == "MFLAGS", strings.HasPrefix(name, "LC_"), name == "LANG":
			continue
		}
		env = append(env, pair)
	}
	if out, err := exec.CommandContext(ctx, "go", "env", "GOCACHE", "GOMODCACHE", "GOPATH").Output(); err == nil {
		if lines := strings.Split(strings.TrimSpace(string(out)), "\n"); len(lines) == 3 {
			env = append(env, "GOCACHE="+lines[0], "GOMODCACHE="+lines[1], "GOPATH="+lines[2])
		}
	}
	if cache, err := os.UserCacheDir(); err == nil {
		env = append(env, "XDG_CACHE_HOME="+cache) // it may contain a copy of PostgreSQL
	}
	address := p.ports["127.0.0.1:8080"]
	return append(env, "HOME="+filepath.Join(p.dir, "home"), "PATH="+p.bin+string(os.PathListSeparator)+os.Getenv("PATH"), "LANG=C.UTF-8",
		"DOCS_ROOT="+p.root, "DATA_DIR="+filepath.Join(p.dir, "data"), "CARVE_LISTEN="+address, "CARVE_SERVER=http://"+address)
}

// ours replaces the page's addresses in a command by the real addresses.
func (p *place) ours(command string) string {
	return written.ReplaceAllStringFunc(command, func(s string) string { return p.ports[s] })
}

// theirs replaces the real addresses in an output by the page's addresses. It also removes the folder's path.
func (p *place) theirs(output string) string {
	var pairs []string
	for page, here := range p.ports {
		pairs = append(pairs, here, page)
	}
	return strings.NewReplacer(append(pairs, p.dir+"/", "")...).Replace(output)
}
