package overload

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/carve-ipam/carve/lab/apicall"
	"github.com/carve-ipam/carve/lab/serverproc"
)

// server is the real server in a separate process.
type server struct {
	*serverproc.Server
	addr  string
	pid   int
	data  string
	api   apicall.Caller
	asks  []string // heads of the requests: one claim for each tenant, or one for each tenant and list
	reads bool     // the requests are lists, not claims
	pools int
}

// startServer starts the server on an empty directory, and makes the tenants and pools for the load. It disables the rate limits, because they would
// refuse requests before the server is overloaded.
func startServer(ctx context.Context, o options) (*server, error) {
	log, err := os.Create(strings.TrimSuffix(o.json, ".json") + ".log")
	if err != nil {
		return nil, err
	}
	defer log.Close()
	args := []string{"--auth=keys", "--rate-limit-reads=0", "--rate-limit-writes=0", "--rate-limit-work=0", "--rate-limit-project-work=0"}
	p, err := serverproc.Start(ctx, serverproc.Options{Program: o.server, Args: append(args, strings.Fields(o.flags)...), Data: o.data, Log: log})
	if err != nil {
		return nil, err
	}
	s := &server{Server: p, addr: p.Addr(), pid: p.Pid(), data: o.data, pools: o.pools, reads: o.lists > 0, api: apicall.Caller{URL: "http://" + p.Addr()}}
	if s.api.Key, err = s.AdminKey(ctx); err == nil {
		err = s.furnish(ctx, o)
	}
	if err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// audit checks every invariant of the data while the server runs.
func (s *server) audit(ctx context.Context, o options) (string, error) {
	if o.audit == "" {
		return "not audited", nil
	}
	out, err := exec.CommandContext(ctx, o.audit, "audit", "--data-dir="+s.data).CombinedOutput() //nolint:gosec // an operator's flag
	if err != nil {
		return "", fmt.Errorf("the audit: %w: %s", err, out)
	}
	return "clean", nil
}
