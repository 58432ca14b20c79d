package main

import (
	"errors"
	"flag"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	carve "github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/controller/internal/mirror"
)

// objects are the settings of what is no claim: pools and classes.
type objects struct {
	every time.Duration
}

func (o *objects) flags() {
	flag.DurationVar(&o.every, "reconcile-interval", 30*time.Second, "how often pools and classes are compared with Carve, by one list each")
}

func (o *objects) check() error {
	if o.every < time.Second {
		return errors.New("--reconcile-interval must be 1s at least")
	}
	return nil
}

// setup has a manager run what is no claim.
func (o *objects) setup(manager ctrl.Manager, toCarve *carve.Carve, s settings) error {
	options := mirror.Options{
		Client: manager.GetClient(), Carve: toCarve, Project: s.project, Realm: s.realm, Events: manager.GetEventRecorder("carve-controller"), Every: o.every,
	}
	return errors.Join(mirror.Pools(options).Setup(manager), mirror.Classes(options).Setup(manager))
}
