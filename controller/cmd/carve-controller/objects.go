package main

import (
	"errors"
	"flag"
	"fmt"
	"strings"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	carve "github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/controller/internal/mirror"
	"github.com/carve-ipam/carve/controller/internal/publish"
)

// objects are the settings of all that is not about claiming.
type objects struct {
	every   time.Duration
	publish string
}

func (o *objects) flags(flag *flag.FlagSet) {
	flag.DurationVar(&o.every, "reconcile-interval", 30*time.Second, "how often pools and classes are compared with Carve, by one list each")
	flag.StringVar(&o.publish, "publish", "", "into what blocks may be written on demand: configmaps, secrets, or both with a comma (default: nothing)")
}

func (o *objects) check() error {
	if o.every < time.Second {
		return errors.New("--reconcile-interval must be 1s at least")
	}
	_, err := o.kinds()
	return err
}

// kinds are what blocks may be written into.
func (o *objects) kinds() (kinds []string, err error) {
	for _, word := range strings.FieldsFunc(o.publish, func(r rune) bool { return r == ',' }) {
		switch word {
		case "configmaps":
			kinds = append(kinds, "ConfigMap")
		case "secrets":
			kinds = append(kinds, "Secret")
		default:
			return nil, fmt.Errorf("--publish: what is %q?", word)
		}
	}
	return kinds, nil
}

// setup has a manager run what is no claim.
func (o *objects) setup(manager ctrl.Manager, toCarve *carve.Carve, s settings) error {
	options := mirror.Options{
		Client: manager.GetClient(), Carve: toCarve, Project: s.project, Realm: s.realm, Events: manager.GetEventRecorder("carve-controller"), Every: o.every,
	}
	kinds, err := o.kinds()
	if err != nil {
		return err
	}
	publishes := &publish.Reconciler{Client: options.Client, Live: manager.GetAPIReader(), Events: options.Events, Kinds: kinds, Again: time.Minute}
	return errors.Join(mirror.Pools(options).Setup(manager), mirror.Classes(options).Setup(manager), publishes.Setup(manager))
}
