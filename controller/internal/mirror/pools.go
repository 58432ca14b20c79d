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

// page is the page size for lists.
const page = 500

// Pools returns the reconciler for IPPools.
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
			spec.Drain = "" // only an existing pool can drain
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

// poolSpec converts an IPPool's specification to Carve's type. The fields have the same names.
func poolSpec(p *ipam.IPPool) (spec carve.IPPoolSpec, err error) {
	err = reread(p.Spec, &spec)
	return spec, err
}

// reread converts a Kubernetes specification to Carve's.
func reread(from, to any) error {
	text, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, to)
}

// applyPool copies a pool's mutable fields. An unset field becomes Carve's default.
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

// sameTime returns the wanted duration. If both durations are equal, it returns the current notation. Otherwise 60m and 1h would count as a
// difference.
func sameTime(wanted, is carve.Duration) carve.Duration {
	a, err := time.ParseDuration(wanted)
	b, failed := time.ParseDuration(is)
	if err == nil && failed == nil && a == b {
		return is
	}
	return wanted
}

// showPool writes a pool's figures into the status.
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
