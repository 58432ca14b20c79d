package claims

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	carve "github.com/carve-ipam/carve/client"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/conditions"
)

// compare returns whether Carve holds the block that a claim's status names. It reports differences in the status. users are the UIDs of the claim's
// pods. If Carve no longer holds the block, compare does not claim the block again. A person has released it, and another claim may have it.
func (r *Reconciler) compare(ctx context.Context, claim *ipam.IPClaim, users ...types.UID) (held bool, err error) {
	if !r.feed.synced() {
		return true, nil // after its first synchronization the feed reconciles each claim that differs
	}
	drift, err := r.drift(ctx, claim)
	if err != nil {
		return false, err
	}
	held = drift == ""
	for _, user := range users {
		if drift == "" && r.ended.has(user) {
			drift = "pod " + string(user) + " lives, but Carve has ended it or does not know it"
		}
	}
	if drift != "" {
		return held, r.setStalled(ctx, claim, ipam.ReasonError, "Compare", drift)
	}
	return held, r.change(ctx, claim, func(s *ipam.IPClaimStatus) {
		conditions.Done(&s.Conditions, claim.Generation, ipam.ReasonReconciled, messageHeld)
	})
}

const (
	driftReleased = "the claim was released in Carve; to get another block, delete the IPClaim and create another one"
	driftReplaced = "another claim has replaced the claim in Carve under its name; delete the IPClaim and create another one"
	driftChanged  = "the claim was changed in Carve: "
)

// drift returns the difference between a claim in Carve and the status of its IPClaim, or "". The feed may be a moment old, so drift asks Carve
// before it reports a difference.
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

// differs returns the difference between a claim in Carve and the status of an IPClaim, or "".
func differs(claim *ipam.IPClaim, held *carve.IPClaim, realm string) string {
	switch {
	case held.Metadata.UID != claim.Status.Claim.UID:
		return driftReplaced
	case held.Status.AllocatedCIDR != claim.Status.CIDR:
		return driftChanged + "its block is " + held.Status.AllocatedCIDR
	case held.Metadata.Labels[realmLabel] != realm:
		return driftChanged + "the label " + realmLabel + " has another value"
	default:
		return ""
	}
}

// refusedPods are the pods that Carve did not renew at the last renewal.
type refusedPods struct {
	mu   sync.Mutex
	uids map[types.UID]bool
}

func (p *refusedPods) has(uid types.UID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.uids[uid]
}

// set replaces the pods, and returns the pods that were added or removed.
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
