package claims

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	carve "github.com/carve-ipam/carve/client"
)

// attempt is a claim that the controller has requested from Carve. It may exist in Carve, but no IPClaim's status names it yet.
type attempt struct {
	uid       types.UID
	name      string
	consumers []carve.ClaimConsumer
}

// attempts has the unfinished attempts, by IPClaim. The API server may delete an IPClaim although it has just accepted the finalizer. Then no IPClaim
// names the block in Carve, and the controller needs the attempt to release the block.
type attempts struct {
	mu sync.Mutex
	of map[types.NamespacedName]attempt
}

func (a *attempts) add(name types.NamespacedName, uid types.UID, remote string, consumers []carve.ClaimConsumer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.of == nil {
		a.of = map[types.NamespacedName]attempt{}
	}
	a.of[name] = attempt{uid, remote, consumers}
}

func (a *attempts) get(name types.NamespacedName) (attempt, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	found, ok := a.of[name]
	return found, ok
}

func (a *attempts) remove(name types.NamespacedName) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.of, name)
}

// abort releases an attempt's block if its IPClaim no longer exists. uid is the UID of the current IPClaim with the name, or empty. The attempt stays
// recorded until Carve has released the block.
func (r *Reconciler) abort(ctx context.Context, name types.NamespacedName, uid types.UID) error {
	begun, ok := r.begun.get(name)
	if !ok || begun.uid == uid {
		return nil
	}
	for _, c := range begun.consumers {
		if err := r.Realm.Detach(ctx, begun.name, types.UID(c.UID)); err != nil && !carve.IsNotFound(err) {
			return fmt.Errorf("detach a pod from the block of a deleted claim: %w", err)
		}
	}
	if err := r.releaseClaim(ctx, begun.name, begun.uid); err != nil {
		return fmt.Errorf("release the block of a deleted claim: %w", err)
	}
	r.begun.remove(name)
	return nil
}
