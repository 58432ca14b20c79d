package claims

import (
	"context"
	"fmt"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	carve "github.com/carve-ipam/carve/client"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
)

// cleaned takes the claims in Carve that the sweep has released because they had no IPClaim. It records an event on each former IPClaim. It records
// another event on each IPPool that had such a block.
func (s *Sweep) cleaned(ctx context.Context, orphans []*carve.IPClaim) error {
	if len(orphans) == 0 {
		return nil
	}
	blocks := map[string]int{}
	for _, held := range orphans {
		gone := &ipam.IPClaim{ObjectMeta: meta.ObjectMeta{
			Namespace: held.Metadata.Annotations[namespaceAnnotation], Name: held.Metadata.Annotations[nameAnnotation], UID: holderOf(held),
		}}
		s.Of.Events.Eventf(gone, nil, core.EventTypeNormal, ipam.ReasonOrphansCleaned, "Sweep",
			"released %s, which Carve had for this IPClaim: the IPClaim no longer exists", held.Status.AllocatedCIDR)
		blocks[held.Status.PoolRef.Project+"/"+held.Status.PoolRef.Name]++
	}
	var pools ipam.IPPoolList
	if err := s.Of.Client.List(ctx, &pools); err != nil {
		return fmt.Errorf("list the pools of orphans: %w", err)
	}
	for i := range pools.Items {
		remote := pools.Items[i].Status.Remote
		if remote == nil {
			continue
		}
		if n := blocks[remote.Project+"/"+remote.Name]; n > 0 {
			s.Of.Events.Eventf(&pools.Items[i], nil, core.EventTypeNormal, ipam.ReasonOrphansCleaned, "Sweep",
				"released the blocks of IPClaims that no longer exist; number of blocks: %d", n)
		}
	}
	return nil
}
