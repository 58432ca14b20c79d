package main

import (
	"errors"
	"flag"
	"fmt"
	"strings"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/carve-ipam/carve/controller/internal/mirror"
	"github.com/carve-ipam/carve/controller/internal/nodes"
	"github.com/carve-ipam/carve/controller/internal/publish"
	"github.com/carve-ipam/carve/controller/internal/realm"
)

// objects has the settings for pools, classes, slices and publishing.
type objects struct {
	every, grace  time.Duration
	publish       string
	publishSlices bool
}

func (o *objects) flags(flag *flag.FlagSet) {
	flag.DurationVar(&o.every, "reconcile-interval", 30*time.Second, "interval between comparisons of pools, classes and slices with Carve, by one list request each")
	flag.DurationVar(&o.grace, "node-gone-grace", time.Minute, "time after a node's deletion until its slice is drained")
	flag.BoolVar(&o.publishSlices, "publish-node-slices", false, "annotate each node with its slice")
	flag.StringVar(&o.publish, "publish", "", "kinds of objects to publish blocks in: configmaps, secrets, or both, separated by a comma (default: none)")
}

func (o *objects) check() error {
	if o.every < time.Second {
		return errors.New("--reconcile-interval must be at least 1s")
	}
	if o.grace < 0 {
		return errors.New("--node-gone-grace must not be negative")
	}
	_, err := o.kinds()
	return err
}

// kinds returns the object kinds that may receive blocks.
func (o *objects) kinds() (kinds []string, err error) {
	for _, word := range strings.FieldsFunc(o.publish, func(r rune) bool { return r == ',' }) {
		switch word {
		case "configmaps":
			kinds = append(kinds, "ConfigMap")
		case "secrets":
			kinds = append(kinds, "Secret")
		default:
			return nil, fmt.Errorf("--publish: %q is not configmaps or secrets", word)
		}
	}
	return kinds, nil
}

// setup adds the reconcilers of pools, classes, slices and published blocks to a manager.
func (o *objects) setup(manager ctrl.Manager, in *realm.Realm, renew time.Duration) error {
	kinds, err := o.kinds()
	if err != nil {
		return err
	}
	cache, live, events := manager.GetClient(), manager.GetAPIReader(), manager.GetEventRecorder("carve-controller")
	mirrors := mirror.Options{Client: cache, Carve: in.Carve, Project: in.Project, Realm: in.Name, Events: events, Every: o.every}
	publishes := &publish.Reconciler{Client: cache, Live: live, Events: events, Kinds: kinds, Again: time.Minute}
	slices := &nodes.Reconciler{Client: cache, Live: live, Realm: in, Events: events, Every: o.every, Grace: o.grace, Publish: o.publishSlices}
	return errors.Join(mirror.Pools(mirrors).Setup(manager), mirror.Classes(mirrors).Setup(manager), publishes.Setup(manager),
		slices.Setup(manager), manager.Add(&nodes.Renewals{Of: slices, Every: renew}))
}
