package chaos

import (
	"context"
	"os"

	"github.com/carve-ipam/carve/lab/serverproc"
)

// startProcess starts the server and returns when the server listens. It appends the server's log to a file.
func startProcess(ctx context.Context, binary, logFile string, environ []string, flags ...string) (*serverproc.Server, error) {
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	return serverproc.Start(ctx, serverproc.Options{
		Program: binary,
		Args:    append([]string{"--auth=keys,dev", "--log-level=warn", "--rate-limit-reads=0", "--rate-limit-writes=0"}, flags...),
		Env:     append([]string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "GOMAXPROCS=2"}, environ...),
		Log:     log,
	})
}
