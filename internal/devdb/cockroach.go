//go:build unix

package devdb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// CockroachDB's names in a data directory.
const (
	cockroachStore = "cockroach"
	cockroachURL   = "cockroach.url"
	cockroachLog   = "cockroach.log"
)

// startCockroach runs a single CockroachDB node as this process's user.
func startCockroach(ctx context.Context, cfg Config, h *directory) (*process, string, error) {
	bin, err := exec.LookPath("cockroach")
	if err != nil {
		return nil, "", fmt.Errorf("%w: no `cockroach` on the PATH; install CockroachDB, or use the embedded PostgreSQL (%w)", ErrMissing, err)
	}
	// An old file would have the previous run's address.
	if err := h.root.Remove(cockroachURL); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, "", err
	}
	cmd := exec.Command(bin, cockroachArgs(cfg.Region)...)
	cmd.Dir = h.dir // the paths in its arguments are relative, because store paths have a special syntax
	cmd.Env = append(os.Environ(), "COCKROACH_SKIP_ENABLING_DIAGNOSTIC_REPORTING=true")
	// SIGTERM drains the node. Its sessions end, its leases move, and then it exits.
	proc, err := h.spawnLogged(cmd, syscall.SIGTERM, cockroachLog)
	if err != nil {
		return nil, "", err
	}
	base, err := h.listeningURL(ctx, proc)
	if err != nil {
		return nil, "", abandon(proc, cfg.Log, err)
	}
	dsn, err := makeReady(ctx, proc, func(name string) string {
		u := *base
		u.Path = "/" + name
		return u.String()
	}, "defaultdb")
	if err != nil {
		return nil, "", abandon(proc, cfg.Log, err)
	}
	return proc, dsn, nil
}

// cockroachArgs returns the command line. Even a single node needs a region, because the schema uses region types.
func cockroachArgs(region string) []string {
	return []string{
		"start-single-node",
		"--insecure",
		"--listen-addr=127.0.0.1:0",
		"--http-addr=127.0.0.1:0",
		"--store=" + cockroachStore,
		"--locality=region=" + region,
		"--listening-url-file=" + cockroachURL,
	}
}

// listeningURL waits for the file with the node's address.
func (h *directory) listeningURL(ctx context.Context, p *process) (*url.URL, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	var found *url.URL
	err := poll(ctx, func() (bool, error) {
		if p.hasExited() {
			return false, fmt.Errorf("cockroach ended while starting: %w", p.report)
		}
		text, err := h.root.ReadFile(cockroachURL)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		found, err = parseListeningURL(string(text))
		return found != nil, err
	})
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil, fmt.Errorf("cockroach did not write its listening URL: %w", err)
	}
	return found, err
}

// parseListeningURL parses the file. It returns nil while the line is incomplete, because the node writes the file in several parts.
func parseListeningURL(text string) (*url.URL, error) {
	line, _, whole := strings.Cut(text, "\n")
	if !whole {
		return nil, nil
	}
	u, err := url.Parse(strings.TrimSpace(line))
	if err != nil {
		return nil, fmt.Errorf("cockroach wrote an unreadable listening URL: %w", err)
	}
	if u.Port() == "" || u.Port() == "0" {
		return nil, fmt.Errorf("cockroach wrote a listening URL without a port: %q", line)
	}
	return u, nil
}
