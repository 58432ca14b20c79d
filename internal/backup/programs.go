package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/carve-ipam/carve/internal/devdb"
)

// stopLimit is the time that a program has to stop before it is killed.
const stopLimit = 10 * time.Second

// tool is a PostgreSQL program, with the database on which it works.
type tool struct {
	program devdb.Program
	url     string
	env     []string
}

// findTool finds a program whose major version is at least the server's, because an older program cannot read the server.
func findTool(ctx context.Context, name, dsn string, major int) (tool, error) {
	url, env, err := toolURL(dsn)
	if err != nil {
		return tool{}, err
	}
	p, err := devdb.FindProgram(ctx, name, major)
	return tool{p, url, env}, err
}

// run runs the program. If it fails, the error contains its output. The output names tables and hosts, but contains no password.
func (t tool) run(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, t.program.Path, append(args, "--no-password", "--dbname="+t.url)...) //nolint:gosec // G204: the program and the URL are the operator's own
	var stderr bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr = t.env, &stderr, &stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopLimit
	if err := cmd.Run(); err != nil {
		return errors.Join(ctx.Err(), fmt.Errorf("%s: %w\n%s", t.program.Path, err, strings.TrimSpace(stderr.String())))
	}
	return nil
}
