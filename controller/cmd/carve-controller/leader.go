package main

import (
	"errors"
	"flag"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
)

// leadership has the settings of the leader election among several controllers.
type leadership struct {
	on        bool
	namespace string
	lease     time.Duration
}

func (l *leadership) flags(flag *flag.FlagSet) {
	flag.BoolVar(&l.on, "leader-elect", true, "use leader election, so that only one of several controllers is active")
	flag.StringVar(&l.namespace, "leader-elect-resource-namespace", "", "namespace of the lease (default: the namespace of the controller's pod)")
	flag.DurationVar(&l.lease, "leader-elect-lease-duration", 15*time.Second, "time that the others wait for a leader that does not respond; at least 3s")
}

func (l *leadership) check() error {
	if l.lease < 3*time.Second {
		return errors.New("--leader-elect-lease-duration must be at least 3s")
	}
	return nil
}

// apply copies the settings to a manager's options. A leader that cannot renew its lease gives up after two thirds of the lease. Another replica
// takes over only when the lease has expired.
func (l *leadership) apply(o *ctrl.Options) {
	deadline, retry := l.lease*2/3, l.lease*2/15
	o.LeaderElection, o.LeaderElectionID, o.LeaderElectionNamespace = l.on, "carve-controller.ipam.carve.dev", l.namespace
	o.LeaseDuration, o.RenewDeadline, o.RetryPeriod = &l.lease, &deadline, &retry
	o.LeaderElectionReleaseOnCancel = true
}
