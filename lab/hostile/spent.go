package hostile

import (
	"os"
	"time"

	"github.com/carve-ipam/carve/lab/procstat"
)

// spent is the processor time of the service and of its attackers. It shows why other requests slow down. Either the server has more work, or the
// attackers use the same processors.
type spent struct {
	at    time.Time
	times procstat.Times
	err   error
}

func spentNow() spent {
	times, err := procstat.ReadTimes()
	return spent{time.Now(), times, err}
}

// since returns how many processors were busy on average. served is for the service with its database. attacked is for this process, which runs the
// attackers and the load.
func (s spent) since(before spent, service int) (served, attacked float64) {
	took := s.at.Sub(before.at).Seconds()
	if took <= 0 {
		return 0, 0
	}
	mine, _ := s.times.Own(os.Getpid())
	was, _ := before.times.Own(os.Getpid())
	return (s.times.Tree(service) - before.times.Tree(service)).Seconds() / took, (mine - was).Seconds() / took
}
