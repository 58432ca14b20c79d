package claims

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	carve "github.com/carve-ipam/carve/client"
)

// attempt is a claim of Carve that may exist, and that no status names yet.
type attempt struct {
	uid       types.UID
	name      string
	consumers []carve.ClaimConsumer
}

// attempts are those of the IPClaims for which the controller has asked Carve. The API server deletes an object whose finalizer is added at the same
// time, and accepts the finalizer. Without an attempt nothing would release the block of such an object.
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

// abort releases what the controller has claimed for an IPClaim of a name that is not there any more. The one that is there has the UID; empty where
// there is none. The claim stays remembered until Carve has released it.
func (r *Reconciler) abort(ctx context.Context, name types.NamespacedName, uid types.UID) error {
	begun, ok := r.begun.get(name)
	if !ok || begun.uid == uid {
		return nil
	}
	for _, c := range begun.consumers {
		if err := r.Realm.Detach(ctx, begun.name, types.UID(c.UID)); err != nil && !carve.IsNotFound(err) {
			return fmt.Errorf("detaching a pod from the block of a claim that was deleted: %w", err)
		}
	}
	if err := r.giveBack(ctx, begun.name, begun.uid); err != nil {
		return fmt.Errorf("releasing the block of a claim that was deleted: %w", err)
	}
	r.begun.remove(name)
	return nil
}
