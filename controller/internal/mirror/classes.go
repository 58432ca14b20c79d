package mirror

import (
	"context"
	"iter"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	carve "github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/client/patch"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
)

// Classes returns the reconciler for IPClasses.
func Classes(o Options) *Reconciler[*ipam.IPClass, carve.IPClass] {
	return &Reconciler[*ipam.IPClass, carve.IPClass]{Options: o, wake: make(chan event.GenericEvent), kind: kind[*ipam.IPClass, carve.IPClass]{
		what: "class", created: ipam.ReasonReconciled, updated: ipam.ReasonReconciled,
		new: func() *ipam.IPClass { return &ipam.IPClass{} },
		objects: func(ctx context.Context, reader client.Reader) ([]*ipam.IPClass, error) {
			return listed(ctx, reader, &ipam.IPClassList{}, func(l *ipam.IPClassList) []ipam.IPClass { return l.Items })
		},
		list: func(ctx context.Context) iter.Seq2[carve.IPClass, error] {
			limit := page
			return o.Carve.Classes(ctx, o.Project, carve.ListClassesParams{Limit: &limit})
		},
		create: func(ctx context.Context, c *ipam.IPClass, metadata carve.CreateMetadata) (*carve.IPClass, error) {
			spec, err := classSpec(c)
			if err != nil {
				return nil, err
			}
			return o.Carve.CreateClass(ctx, o.Project, carve.IPClassCreate{Metadata: metadata, Spec: spec})
		},
		resource: func(name string) patch.Resource[carve.IPClass] { return patch.Class(o.Carve, o.Project, name) },
		remove: func(ctx context.Context, name, ifMatch string) error {
			return o.Carve.DeleteClass(ctx, o.Project, name, carve.DeleteClassParams{IfMatch: &ifMatch})
		},
		meta:  func(c *carve.IPClass) *carve.Metadata { return &c.Metadata },
		apply: applyClass,
		show:  showClass,
	}}
}

// classSpec converts an IPClass's specification to Carve's type. The fields have the same names.
func classSpec(c *ipam.IPClass) (spec carve.IPClassSpec, err error) {
	err = reread(c.Spec, &spec)
	return spec, err
}

// applyClass copies a class's mutable fields. An unset field becomes Carve's default.
func applyClass(c *ipam.IPClass, remote *carve.IPClass) error {
	spec, err := classSpec(c)
	if err != nil {
		return err
	}
	now := &remote.Spec
	now.AllowedPrefixLengths, now.DefaultPrefixLength = spec.AllowedPrefixLengths, spec.DefaultPrefixLength
	now.Strategy, now.Description = spec.Strategy, spec.Description
	now.ReuseAfter, now.ReuseAfterLost = sameTime(spec.ReuseAfter, now.ReuseAfter), sameTime(spec.ReuseAfterLost, now.ReuseAfterLost)
	no := false
	if now.IsDefault = &no; spec.IsDefault != nil {
		now.IsDefault = spec.IsDefault
	}
	if now.PoolSelection = carve.PoolSelectionFirstFit; spec.PoolSelection != "" {
		now.PoolSelection = spec.PoolSelection
	}
	if now.ReclaimPolicy = carve.ReclaimPolicyDelete; spec.ReclaimPolicy != "" {
		now.ReclaimPolicy = spec.ReclaimPolicy
	}
	if len(spec.PoolPer) > 0 {
		const usual = "24h"
		wanted := spec.EmptyPoolTTL
		if wanted == "" {
			wanted = usual
		}
		now.EmptyPoolTTL = sameTime(wanted, now.EmptyPoolTTL)
	}
	return nil
}

// showClass writes a class's figures into the status. It never reports that a class is full, because only pools can be full.
func showClass(c *ipam.IPClass, remote *carve.IPClass) (full string) {
	from, s := &remote.Status, &c.Status
	s.IPFamily, s.BackingPools = string(remote.Spec.IPFamily), from.BackingPools
	s.Total, s.Free, s.Utilization = from.Capacity.Total, from.Capacity.Available, percent(from.UtilizationPercent)
	s.Used = used(s.Total, s.Free)
	return ""
}
