package nodes

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	carve "github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/client/patch"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
)

// drainedBy is the annotation with the realm whose controller has drained a slice. The controller ends only draining that it started, and leaves
// slices that people drain.
const drainedBy = "ipam.carve.dev/drained-by"

// drain drains the slices of nodes that have been gone for long enough, or that the selector no longer selects. Existing claims in them stay. Carve
// reassigns a slice when it is empty.
func (r *Reconciler) drain(ctx context.Context, p *ipam.NodeSlicePool, v *view) error {
	wanted := map[types.UID]bool{}
	for _, node := range v.wanted {
		wanted[node.UID] = true
	}
	var alive map[types.UID]bool
	for uid, slice := range v.slices {
		if wanted[uid] {
			continue
		}
		if mine, err := r.isOurs(ctx, uid); err != nil {
			return err
		} else if !mine {
			delete(v.slices, uid)
			continue
		}
		if slice.Spec.Drain == carve.PoolDrainDelete {
			continue
		}
		if left := r.left(missed{p.UID, uid}); left > 0 {
			v.wait = min(v.wait, left)
			continue
		}
		if alive == nil {
			var err error
			if alive, err = r.alive(ctx); err != nil {
				return err
			}
		}
		if alive[uid] && v.known[uid] == nil {
			continue // the cache is old
		}
		switch exists, err := r.giveUp(ctx, slice); {
		case stays(err):
			v.stays = append(v.stays, slice.Status.AllocatedCIDR)
		case err != nil:
			return err
		case !exists:
			delete(v.slices, uid)
			v.changed = true
		}
		if !alive[uid] {
			if err := r.Realm.End(ctx, uid); err != nil {
				return err
			}
		}
	}
	return nil
}

// missed identifies a node that a NodeSlicePool no longer selects or that is gone.
type missed struct{ pool, node types.UID }

// left returns the remaining time before a missing node's slice is drained. The time begins when the controller first misses the node.
func (r *Reconciler) left(m missed) time.Duration {
	if r.gone == nil {
		r.gone = map[missed]time.Time{}
	}
	since, known := r.gone[m]
	if !known {
		since = time.Now()
		r.gone[m] = since
	}
	return r.Grace - time.Since(since)
}

// alive returns the UIDs of all nodes in the API server.
func (r *Reconciler) alive(ctx context.Context) (map[types.UID]bool, error) {
	nodes := nodeList()
	if err := r.Live.List(ctx, nodes); err != nil {
		return nil, err
	}
	alive := map[types.UID]bool{}
	for i := range nodes.Items {
		alive[nodes.Items[i].UID] = true
	}
	return alive, nil
}

// giveUp drains a slice. Carve then allocates nothing more from the slice, and deletes it when it is empty. giveUp returns false if the slice no
// longer exists.
func (r *Reconciler) giveUp(ctx context.Context, slice *carve.IPPool) (exists bool, err error) {
	return r.change(ctx, slice, func(p *carve.IPPool) {
		p.Spec.Drain = carve.PoolDrainDelete
		if p.Metadata.Annotations == nil {
			p.Metadata.Annotations = carve.Annotations{}
		}
		p.Metadata.Annotations[drainedBy] = r.Realm.Name
	})
}

// stays reports whether an error means that the controller cannot drain a slice. Such a slice belongs to another project. If that project is
// invisible to the controller, Carve returns not found.
func stays(err error) bool {
	return carve.IsNotFound(err) || carve.CodeOf(err) == carve.ProblemCodePermissionDenied
}

// undrain ends a slice's draining after its node has come back. It returns false if the slice no longer exists.
func (r *Reconciler) undrain(ctx context.Context, slice *carve.IPPool) (exists bool, err error) {
	return r.change(ctx, slice, func(p *carve.IPPool) {
		p.Spec.Drain = ""
		delete(p.Metadata.Annotations, drainedBy)
	})
}

// change changes a slice. If Carve has deleted the slice since the controller listed it, change returns false, even if another pool has the name now.
// For a slice in an invisible project, Carve also returns not found. In that case change returns Carve's error.
func (r *Reconciler) change(ctx context.Context, slice *carve.IPPool, change func(*carve.IPPool)) (exists bool, err error) {
	changed, err := patch.Pool(r.Realm.Carve, slice.Metadata.Project, slice.Metadata.Name).Change(ctx, func(p *carve.IPPool) error {
		if p.Metadata.UID == slice.Metadata.UID {
			change(p)
		}
		return nil
	})
	switch {
	case carve.IsNotFound(err) && slice.Metadata.Project == r.Realm.Project:
		return false, nil
	case err != nil:
		return true, err
	case changed.Metadata.UID != slice.Metadata.UID:
		return false, nil
	}
	slice.Spec.Drain = changed.Spec.Drain
	return true, nil
}
