//go:build unix

package devdb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// The PostgreSQL cluster's names in a data directory.
const (
	clusterName    = "postgres"
	newClusterName = "postgres.new" // until initdb has finished
)

// clusterMajor returns the major version that wrote the cluster, or 0 if there is none.
func (h *directory) clusterMajor() (int, error) {
	found, err := h.exists(clusterName)
	if err != nil || !found {
		return 0, err
	}
	text, err := h.root.ReadFile(clusterName + "/PG_VERSION")
	if errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("%s exists and is not a PostgreSQL cluster: move it away", filepath.Join(h.dir, clusterName))
	}
	if err != nil {
		return 0, err
	}
	major, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, fmt.Errorf("PG_VERSION of the cluster is not a number: %w", err)
	}
	return major, nil
}

// initCluster runs initdb in a temporary directory and renames the result, so that after any interruption the cluster is either complete or missing.
//
// Connections need no password, because the socket is in a directory that only the database's user can enter.
func (h *directory) initCluster(ctx context.Context, bin programs, volatile bool) error {
	if err := h.root.RemoveAll(newClusterName); err != nil {
		return err
	}
	if err := h.mkdir(newClusterName); err != nil {
		return err
	}
	cmd := exec.Command(bin.path("initdb"), "--username=postgres", "--encoding=UTF8", "--locale=C.UTF-8",
		"--auth-local=trust", "--auth-host=reject", "--data-checksums", "--no-instructions")
	if volatile {
		cmd.Args = append(cmd.Args, "--no-sync")
	}
	if err := h.passDirs(cmd, dirOption{"-D", filepath.Join(h.dir, newClusterName)}); err != nil {
		return err
	}
	defer closeAll(cmd.ExtraFiles[1:])
	if out, err := h.run(ctx, cmd); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	if err := h.root.Rename(newClusterName, clusterName); err != nil || volatile {
		return err
	}
	return h.sync()
}

// clearStalePID removes a postmaster.pid that a dead PostgreSQL has left, if PostgreSQL would mistake it for the file of a running server. This
// happens if the process id in the file now belongs to another process of the same user. That is likely in a container, where process ids start from
// 1 again. It also happens if no process has waited for the dead process, because the id is then still in use.
//
// This process holds engine.lock, so no Carve database is alive. But a user may have started a PostgreSQL by hand. In that case clearStalePID returns
// [ErrForeign]. PostgreSQL itself recognizes all other stale files.
func (h *directory) clearStalePID(ctx context.Context, log *slog.Logger) error {
	const name = clusterName + "/postmaster.pid"
	text, err := h.root.ReadFile(name)
	if err != nil {
		return nil //nolint:nilerr // the file does not exist, or PostgreSQL will report the error
	}
	cluster, err := h.root.Stat(clusterName)
	if err != nil {
		return err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, _ := strconv.Atoi(strings.TrimSpace(first))
	// The file has no process id if the machine lost power or the disk was full during a start. PostgreSQL would then require a user to remove the file.
	if pid <= 0 {
		if someone, known := anyoneIn(cluster, h.account.userID()); !known || someone != 0 {
			// A process that runs in the cluster may be about to write the file. Only the cluster's owner can run one.
			return nil
		}
		log.WarnContext(ctx, "removing a postmaster.pid without a process id", "dir", h.dir)
		return h.root.Remove(name)
	}
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return nil
	}
	switch here, known := worksIn(pid, cluster); {
	case !known:
		return nil
	case here:
		return fmt.Errorf("%w: process %d, not started by this server: stop it first", ErrForeign, pid)
	}
	log.WarnContext(ctx, "removing a postmaster.pid of a dead PostgreSQL", "dir", h.dir, "pid", pid)
	return h.root.Remove(name)
}
