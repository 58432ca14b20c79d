package overload

import (
	"errors"
	"time"

	"github.com/carve-ipam/carve/lab/procstat"
)

// spent is the processor time that the server, the database and the generator have used. On a shared machine, only requests per second of processor
// time are comparable. Requests per second of clock time are not.
type spent struct{ server, database, generator time.Duration }

func (s spent) since(was spent) spent {
	return spent{s.server - was.server, s.database - was.database, s.generator - was.generator}
}

// spent reads the processor time. All processes that the server has started count as the database.
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
