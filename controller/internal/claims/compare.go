package claims

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	carve "github.com/carve-ipam/carve/client"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/conditions"
)

// compare shows whether Carve holds what the status of a claim says, for these pods, and answers whether it does. What has been taken away there is
// not taken again: somebody has decided it, and the block may be another's.
func (r *Reconciler) compare(ctx context.Context, claim *ipam.IPClaim, users ...types.UID) (held bool, err error) {
	if !r.feed.synced() {
		return true, nil // when it has told all there is, it wakes what differs
	}
	drift, err := r.drift(ctx, claim)
	if err != nil {
		return false, err
	}
	held = drift == ""
	for _, user := range users {
		if drift == "" && r.ended.has(user) {
			drift = "pod " + string(user) + " has ended in Carve, or is not known there, and lives"
		}
	}
	if drift != "" {
		return held, r.stuck(ctx, claim, ipam.ReasonError, "Compare", drift)
	}
	return held, r.change(ctx, claim, func(s *ipam.IPClaimStatus) {
		conditions.Done(&s.Conditions, claim.Generation, ipam.ReasonReconciled, messageHeld)
	})
}

const (
	driftReleased = "the claim was released in Carve; delete the IPClaim, and make another for another block"
	driftReplaced = "the claim was replaced in Carve by another of its name; delete the IPClaim, and make another"
	driftChanged  = "the claim was changed in Carve: "
)

// drift answers what Carve has otherwise than the status of a claim. Only Carve itself is believed that it does not hold something: what the feed has
// told may be a moment old.
func (r *Reconciler) drift(ctx context.Context, claim *ipam.IPClaim) (string, error) {
	if r.feed.holds(claim) {
		return "", nil
	}
	got, err := r.Realm.Carve.GetClaim(ctx, claim.Status.Claim.Project, claim.Status.Claim.Name)
	switch {
	case carve.IsNotFound(err):
		return driftReleased, nil
	case err != nil:
		return "", err
	}
	return differs(claim, got, r.Realm.Name), nil
}

// differs says in what a claim in Carve is not what the status of an IPClaim says.
func differs(claim *ipam.IPClaim, held *carve.IPClaim, realm string) string {
	switch {
	case held.Metadata.UID != claim.Status.Claim.UID:
		return driftReplaced
	case held.Status.AllocatedCIDR != claim.Status.CIDR:
		return driftChanged + "it has the block " + held.Status.AllocatedCIDR
	case held.Metadata.Labels[realmLabel] != realm:
		return driftChanged + "the label " + realmLabel + " is another"
	default:
		return ""
	}
}

// refusedPods are the pods of which Carve said at the last renewal that they do not live.
type refusedPods struct {
	mu   sync.Mutex
	uids map[types.UID]bool
}

func (p *refusedPods) has(uid types.UID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.uids[uid]
}

// set says which they are now, and answers of which pods something else is known by it.
func (p *refusedPods) set(uids []string) (changed []types.UID) {
	now := make(map[types.UID]bool, len(uids))
	for _, uid := range uids {
		now[types.UID(uid)] = true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for uid := range now {
		if !p.uids[uid] {
			changed = append(changed, uid)
		}
	}
	for uid := range p.uids {
		if !now[uid] {
			changed = append(changed, uid)
		}
	}
	p.uids = now
	return changed
}
