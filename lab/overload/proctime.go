package overload

import (
	"errors"
	"time"

	"github.com/carve-ipam/carve/lab/procstat"
)

// spent is the processor time that the three have used so far. On a machine that others use too, what is served for each second of it can be
// compared where what is served for each second of the clock cannot.
type spent struct{ server, database, generator time.Duration }

func (s spent) since(was spent) spent {
	return spent{s.server - was.server, s.database - was.database, s.generator - was.generator}
}

// spent reads the processor time. The database is whatever the server's process has started.
func (s *server) spent() (spent, error) {
	self, err := procstat.Self()
	if err != nil {
		return spent{}, err
	}
	all, err := procstat.ReadTimes()
	if err != nil {
		return spent{}, err
	}
	own, there := all.Own(s.pid)
	if !there {
		return spent{}, errors.New("the server's process has ended")
	}
	return spent{server: own, database: all.Tree(s.pid) - own, generator: self}, nil
}
