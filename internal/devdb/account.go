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

// account is the user the database runs as: that of this process unless switched.
type account struct {
	switched bool
	uid, gid uint32 // when switched
}

func (a account) userID() int {
	if a.switched {
		return int(a.uid)
	}
	return os.Geteuid()
}

// candidates are the accounts a root server runs PostgreSQL as, best first.
var candidates = []string{"postgres", "nobody"}

// accountFor chooses: this user, or for root the owner of the cluster that is
// already there, or else the first of candidates.
func (h *home) accountFor(cluster string) (account, error) {
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

func (h *home) ownerOf(name string) (owner account, found bool, err error) {
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

// credential drops all groups of root, too. It is nil when nothing is switched.
func (a account) credential() *syscall.Credential {
	if !a.switched {
		return nil
	}
	return &syscall.Credential{Uid: a.uid, Gid: a.gid}
}

// explain adds what to do to an error of starting a program as this account.
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
