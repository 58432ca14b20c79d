//go:build unix

package devdb

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"strings"
	"syscall"
)

// account is the user that runs the database. If switched is false, it is this process's user.
type account struct {
	switched bool
	uid, gid uint32 // valid if switched
}

func (a account) userID() int {
	if a.switched {
		return int(a.uid)
	}
	return os.Geteuid()
}

// candidates are the users that may run PostgreSQL for a server that runs as root, best first.
var candidates = []string{"postgres", "nobody"}

// accountFor selects the user that runs the database. For an ordinary user, this is the process's own user. For root, it is the existing cluster's
// owner, or else the first user in candidates that exists.
func (h *directory) accountFor(cluster string) (account, error) {
	self, root := account{}, os.Geteuid() == 0
	owner, found, err := h.ownerOf(cluster)
	if err != nil {
		return self, err
	}
	switch {
	case !root && found && owner.userID() != self.userID():
		return self, fmt.Errorf("%s belongs to user %s: start as that user (or as root)", cluster, nameOf(owner.userID()))
	case !root:
		return self, nil
	case found && owner.uid == 0:
		return self, fmt.Errorf("%s belongs to root, but PostgreSQL refuses to run as root: change its owner with chown -R", cluster)
	case found:
		return owner, nil
	}
	for _, name := range candidates {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, errU := strconv.ParseUint(u.Uid, 10, 32)
		gid, errG := strconv.ParseUint(u.Gid, 10, 32)
		if errU == nil && errG == nil && uid != 0 {
			return account{switched: true, uid: uint32(uid), gid: uint32(gid)}, nil
		}
	}
	return self, fmt.Errorf("PostgreSQL refuses to run as root, and no user %s exists to run it: create one, or start as an ordinary user",
		strings.Join(candidates, " or "))
}

func (h *directory) ownerOf(name string) (owner account, found bool, err error) {
	if found, err = h.exists(name); err != nil || !found {
		return account{}, false, err
	}
	fi, err := h.root.Lstat(name)
	if err != nil {
		return account{}, false, err
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return account{}, false, fmt.Errorf("%s: the file system does not report the owner", name)
	}
	return account{switched: true, uid: st.Uid, gid: st.Gid}, true, nil
}

// credential returns nil if the account is not switched. Otherwise the credential also removes all of root's groups.
func (a account) credential() *syscall.Credential {
	if !a.switched {
		return nil
	}
	return &syscall.Credential{Uid: a.uid, Gid: a.gid}
}

// explain adds a remedy to the error if a program could not start as this account.
func (a account) explain(err error) error {
	switch {
	case a.switched && errors.Is(err, syscall.EPERM):
		return fmt.Errorf("this root may not start programs as user %s (a container without CAP_SETUID?): start as an ordinary user: %w", nameOf(a.userID()), err)
	case a.switched && errors.Is(err, syscall.EACCES):
		return fmt.Errorf("user %s may not run this program; move it to a directory that every user can read: %w", nameOf(a.userID()), err)
	default:
		return err
	}
}

func nameOf(uid int) string {
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return u.Username
	}
	return strconv.Itoa(uid)
}
