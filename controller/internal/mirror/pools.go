package mirror

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	carve "github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/client/patch"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
)

// page is how many items of a list are asked for at once.
const page = 500

// Pools makes IPPools true.
func Pools(o Options) *Reconciler[*ipam.IPPool, carve.IPPool] {
	return &Reconciler[*ipam.IPPool, carve.IPPool]{Options: o, wake: make(chan event.GenericEvent), kind: kind[*ipam.IPPool, carve.IPPool]{
		what: "pool", created: ipam.ReasonPoolCreated, updated: ipam.ReasonPoolUpdated,
		new: func() *ipam.IPPool { return &ipam.IPPool{} },
		objects: func(ctx context.Context, reader client.Reader) ([]*ipam.IPPool, error) {
			return listed(ctx, reader, &ipam.IPPoolList{}, func(l *ipam.IPPoolList) []ipam.IPPool { return l.Items })
		},
		list: func(ctx context.Context) iter.Seq2[carve.IPPool, error] {
			limit := page
			return o.Carve.Pools(ctx, o.Project, carve.ListPoolsParams{Limit: &limit})
		},
		create: func(ctx context.Context, p *ipam.IPPool, metadata carve.CreateMetadata) (*carve.IPPool, error) {
			spec, err := poolSpec(p)
			if err != nil {
				return nil, err
			}
			spec.Drain = "" // of a pool that exists only
			return o.Carve.CreatePool(ctx, o.Project, carve.IPPoolCreate{Metadata: metadata, Spec: spec})
		},
		resource: func(name string) patch.Resource[carve.IPPool] { return patch.Pool(o.Carve, o.Project, name) },
		remove: func(ctx context.Context, name, ifMatch string) error {
			return o.Carve.DeletePool(ctx, o.Project, name, carve.DeletePoolParams{IfMatch: &ifMatch})
		},
		meta:  func(p *carve.IPPool) *carve.Metadata { return &p.Metadata },
		apply: applyPool,
		show:  showPool,
		drain: func(p *carve.IPPool) { p.Spec.Drain = carve.PoolDrainDelete },
	}}
}

// poolSpec is the spec of a pool as Carve has it: the words are the same.
func poolSpec(p *ipam.IPPool) (spec carve.IPPoolSpec, err error) {
	err = reread(p.Spec, &spec)
	return spec, err
}

// reread makes a spec of Carve of one of Kubernetes.
func reread(from, to any) error {
	text, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, to)
}

// applyPool writes what can be changed of a pool. Where the object says nothing, it is what Carve has by default.
func applyPool(p *ipam.IPPool, remote *carve.IPPool) error {
	spec, err := poolSpec(p)
	if err != nil {
		return err
	}
	if spec.Allocation == nil {
		spec.Allocation = &carve.PoolAllocation{}
	}
	if spec.Allocation.Strategy == "" {
		spec.Allocation.Strategy = carve.AllocationStrategyBestFit
	}
	now := &remote.Spec
	now.ClassNames, now.Allocation, now.Reservations = spec.ClassNames, spec.Allocation, spec.Reservations
	now.Description, now.Drain = spec.Description, spec.Drain
	now.ReuseAfter = sameTime(spec.ReuseAfter, now.ReuseAfter)
	return nil
}

// sameTime is a time as it is wanted, in the form in which it is there if that is the same time.
func sameTime(wanted, is carve.Duration) carve.Duration {
	a, err := time.ParseDuration(wanted)
	b, failed := time.ParseDuration(is)
	if err == nil && failed == nil && a == b {
		return is
	}
	return wanted
}

// showPool writes a pool's figures.
func showPool(p *ipam.IPPool, remote *carve.IPPool) (full string) {
	from, s := &remote.Status, &p.Status
	s.CIDR, s.IPFamily = from.AllocatedCIDR, string(from.IPFamily)
	s.Total, s.Free, s.Utilization = from.Capacity.Total, from.Capacity.Available, percent(from.UtilizationPercent)
	s.Used = used(s.Total, s.Free)
	s.LargestFreePrefixLength = nil
	if length := from.LargestFreePrefixLength; length != nil {
		n := int32(*length) //nolint:gosec // at most 128
		s.LargestFreePrefixLength = &n
	}
	if s.Free == "0" {
		return fmt.Sprintf("nothing is free in %s", s.CIDR)
	}
	return ""
}
