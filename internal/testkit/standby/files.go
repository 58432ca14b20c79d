package standby

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// cluster is the folder of an embedded PostgreSQL's files in its data directory.
const cluster = "postgres"

// copyCluster copies the files of a stopped PostgreSQL, with their owners and modes.
func copyCluster(from, to string) error {
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	return filepath.WalkDir(filepath.Join(from, cluster), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		target := filepath.Join(to, inside)
		switch {
		case d.IsDir():
			err = os.Mkdir(target, info.Mode().Perm())
		case info.Mode().IsRegular():
			err = copyFile(path, target, info.Mode().Perm())
		default:
			err = fmt.Errorf("%s is neither a file nor a directory", path)
		}
		if err != nil {
			return err
		}
		return copyOwner(target, info)
	})
}

func copyFile(from, to string, mode fs.FileMode) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// copyOwner gives a file the owner of another file, if this process runs as root.
func copyOwner(path string, like fs.FileInfo) error {
	owner, ok := like.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 {
		return nil
	}
	return os.Lchown(path, int(owner.Uid), int(owner.Gid))
}

// follow makes a copy a standby of the primary at an address.
func follow(dir string, primary string) error {
	settings := filepath.Join(dir, cluster, "postgresql.auto.conf")
	like, err := os.Stat(settings)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(settings)
	if err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(primary)
	if err != nil {
		return err
	}
	// The standby's walreceiver reconnects after a minute of silence, which would end a stall. 0 disables the reconnection.
	text = fmt.Appendf(text, "\nprimary_conninfo = 'host=%s port=%s user=postgres application_name=%s sslmode=disable'\nwal_receiver_timeout = 0\n", host, port, name)
	if err := os.WriteFile(settings, text, 0o600); err != nil { //nolint:gosec // a file of the cluster that the pair itself made
		return err
	}
	signal := filepath.Join(dir, cluster, "standby.signal")
	if err := os.WriteFile(signal, nil, 0o600); err != nil {
		return err
	}
	return copyOwner(signal, like)
}

// postmaster returns the id of the process that serves a data directory.
func postmaster(dir string) (int, error) {
	text, err := os.ReadFile(filepath.Join(dir, cluster, "postmaster.pid"))
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	return strconv.Atoi(strings.TrimSpace(first))
}
