package claims

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	carve "github.com/carve-ipam/carve/client"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
)

// ErrElsewhere is a controller whose project or realm is not that of the cluster's claims. It would renew no pod of theirs, and Carve would release the
// blocks of pods that live.
var ErrElsewhere = errors.New("the IPClaims of this cluster have their blocks elsewhere")

// Confirm answers [ErrElsewhere] when Carve holds claims of this cluster in another project or realm, and none in this one. Another error says that it is
// not known.
func (r *Reconciler) Confirm(ctx context.Context) error {
	var bound []*ipam.IPClaim
	err := r.each(ctx, func(claim *ipam.IPClaim) {
		if claim.Status.Claim != nil {
			bound = append(bound, claim)
		}
	})
	if err != nil || len(bound) == 0 {
		return err
	}
	held, of, most := map[string]bool{}, realmLabel+"="+r.Realm.Name, page
	for c, err := range r.Realm.Carve.Claims(ctx, r.Realm.Project, carve.ListClaimsParams{LabelSelector: &of, Limit: &most}) {
		if carve.IsNotFound(err) {
			break // there is no such project
		}
		if err != nil {
			return err
		}
		held[c.Metadata.UID] = true
	}
	for _, claim := range bound {
		if held[claim.Status.Claim.UID] {
			return nil
		}
	}
	for _, claim := range bound {
		if err := r.elsewhere(ctx, claim); err != nil {
			return err
		}
	}
	return nil
}

// elsewhere answers [ErrElsewhere] for a claim whose block is held in another project or realm.
func (r *Reconciler) elsewhere(ctx context.Context, claim *ipam.IPClaim) error {
	name, remote := client.ObjectKeyFromObject(claim), claim.Status.Claim
	if remote.Project != r.Realm.Project {
		return fmt.Errorf("%w: IPClaim %s has its block in the project %s; start the controller with --project=%s", ErrElsewhere, name, remote.Project, remote.Project)
	}
	got, err := r.Realm.Carve.GetClaim(ctx, remote.Project, remote.Name)
	if carve.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if in := got.Metadata.Labels[realmLabel]; got.Metadata.UID == remote.UID && in != "" && in != r.Realm.Name {
		return fmt.Errorf("%w: IPClaim %s has its block in the realm %s, and this controller is of the realm %s; start it with --realm=%s",
			ErrElsewhere, name, in, r.Realm.Name, in)
	}
	return nil
}

// Confirmation confirms at the start, as soon as Carve answers, and ends the program where the claims of the cluster are held elsewhere. Each replica runs it.
type Confirmation struct {
	// Of is the reconciler whose project and realm are confirmed.
	Of *Reconciler
}

// NeedLeaderElection says that it runs beside the leader: a rollout is to end before it replaces the controller that works.
func (c *Confirmation) NeedLeaderElection() bool { return false }

// pause is how long it is waited before another question to a server that did not answer.
const pause = 5 * time.Second

// Start asks until there is an answer, or the context ends.
func (c *Confirmation) Start(ctx context.Context) error {
	for {
		err := c.Of.Confirm(ctx)
		if err == nil || errors.Is(err, ErrElsewhere) {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}
