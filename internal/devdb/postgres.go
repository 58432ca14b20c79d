//go:build unix

package devdb

import (
	"context"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// postgresLog is the file for PostgreSQL's messages.
const postgresLog = "postgres.log"

// startPostgres starts the cluster. It first creates the cluster if there is none.
func startPostgres(ctx context.Context, cfg Config, h *directory) (*process, string, error) {
	var err error
	if h.account, err = h.accountFor(clusterName); err != nil {
		return nil, "", err
	}
	major, err := h.clusterMajor()
	if err != nil {
		return nil, "", err
	}
	bin, err := h.findPostgres(ctx, major)
	if err != nil {
		return nil, "", err
	}
	if major == 0 {
		cfg.Log.InfoContext(ctx, "making a new PostgreSQL cluster", "dir", h.dir, "programs", bin.dir, "major", bin.major, "user", nameOf(h.account.userID()))
		if err := h.initCluster(ctx, bin, cfg.Volatile); err != nil {
			return nil, "", err
		}
	}
	if err := h.clearStalePID(ctx, cfg.Log); err != nil {
		return nil, "", err
	}
	socketDir, err := h.makeSocketDir()
	if err != nil {
		return nil, "", err
	}
	proc, err := h.servePostgres(bin, socketDir, cfg)
	if err != nil {
		return nil, "", err
	}
	dsn, err := makeReady(ctx, proc, func(name string) string { return postgresDSN(socketDir, name) }, "postgres")
	if err != nil {
		return nil, "", abandon(proc, cfg.Log, err)
	}
	return proc, dsn, nil
}

// servePostgres starts the database process.
func (h *directory) servePostgres(bin programs, socketDir string, cfg Config) (*process, error) {
	cmd := exec.Command(bin.path("postgres"), postgresSettings(cfg)...)
	if err := h.passDirs(cmd,
		dirOption{"-D", filepath.Join(h.dir, clusterName)},
		dirOption{"--unix_socket_directories=", socketDir},
	); err != nil {
		return nil, err
	}
	defer closeAll(cmd.ExtraFiles[1:])
	// SIGINT requests the fast shutdown, which ends the sessions and writes a checkpoint. SIGTERM would wait until all clients have disconnected.
	return h.spawnLogged(cmd, syscall.SIGINT, postgresLog)
}

// dirOption is a program's option, followed by a directory without a space in between.
type dirOption struct{ option, dir string }

// passDirs gives cmd a minimal environment, and adds options with directories that the account can open. ExtraFiles[0] is engine.lock.
func (h *directory) passDirs(cmd *exec.Cmd, options ...dirOption) error {
	cmd.Dir, cmd.Env = "/", postgresEnv()
	cmd.ExtraFiles = []*os.File{h.engine}
	for _, o := range options {
		path := o.dir
		if h.account.switched {
			dir, err := os.Open(path)
			if err != nil {
				closeAll(cmd.ExtraFiles[1:])
				return err
			}
			path, cmd.ExtraFiles = passDir(dir, cmd.ExtraFiles)
		}
		cmd.Args = append(cmd.Args, o.option+path)
	}
	return nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// postgresDSN returns a database's URL on a socket, for pgx and libpq.
func postgresDSN(socketDir, name string) string {
	q := url.Values{"host": {socketDir}, "port": {"5432"}, "user": {"postgres"}}
	return "postgres:///" + name + "?" + q.Encode()
}
