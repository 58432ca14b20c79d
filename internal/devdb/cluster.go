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

// Names of the PostgreSQL cluster in a data directory.
const (
	clusterName    = "postgres"
	newClusterName = "postgres.new" // one that initdb has not finished
)

// clusterMajor is the major version that wrote the cluster, or 0 when there is none.
func (h *home) clusterMajor() (int, error) {
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

// initCluster runs initdb beside the final place and renames the result, so
// that a cluster is either whole or not there, whenever this is interrupted.
//
// Connections need no password: whoever reaches the socket got through its directory.
func (h *home) initCluster(ctx context.Context, bin programs, volatile bool) error {
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

// clearStalePID removes a postmaster.pid that PostgreSQL would take for alive although
// it is not. The process id it names may have been given to another process of the same
// user, as happens at once in a container that counts from 1 again; or the dead process
// still has it, because nobody has waited for it.
//
// With engine.lock held none of our own databases lives. The process that is
// named is looked at nevertheless: it may be a PostgreSQL started by hand, and
// then [ErrForeign] is returned. Every other file is left to PostgreSQL,
// which finds out by itself that it is stale.
func (h *home) clearStalePID(ctx context.Context, log *slog.Logger) error {
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
	if pid <= 0 { // a machine that lost power, or a disk that was full, in the middle of a start: PostgreSQL would ask for its removal by hand
		if someone, known := anyoneIn(cluster, h.account.userID()); !known || someone != 0 {
			return nil // who is there, and none but the cluster's owner can be, may be about to write it
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
