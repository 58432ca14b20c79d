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

// ErrElsewhere reports that the cluster's claims belong to another project or realm than the controller's. With these settings, the controller would
// not renew the claims' pods, and Carve would release the blocks of live pods.
var ErrElsewhere = errors.New("another project or realm has the blocks of this cluster's IPClaims")

// Confirm returns [ErrElsewhere] if Carve holds claims of this cluster in another project or realm, and none in this one. Any other error means that
// Confirm could not find out.
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
			break // the project does not exist
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

// elsewhere returns [ErrElsewhere] for a claim if another project or realm holds its block.
func (r *Reconciler) elsewhere(ctx context.Context, claim *ipam.IPClaim) error {
	name, remote := client.ObjectKeyFromObject(claim), claim.Status.Claim
	if remote.Project != r.Realm.Project {
		return fmt.Errorf("%w: the block of IPClaim %s is in the project %s; start the controller with --project=%s", ErrElsewhere, name, remote.Project, remote.Project)
	}
	got, err := r.Realm.Carve.GetClaim(ctx, remote.Project, remote.Name)
	if carve.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if in := got.Metadata.Labels[realmLabel]; got.Metadata.UID == remote.UID && in != "" && in != r.Realm.Name {
		return fmt.Errorf("%w: the block of IPClaim %s is in the realm %s, but this controller's realm is %s; start it with --realm=%s",
			ErrElsewhere, name, in, r.Realm.Name, in)
	}
	return nil
}

// Confirmation calls Confirm at the start until Carve responds. It ends the program if another project or realm holds the claims of the cluster. Each
// replica runs it.
type Confirmation struct {
	// Of is the reconciler to confirm.
	Of *Reconciler
}

// NeedLeaderElection returns false. A new replica with a wrong configuration has to fail before it replaces the current leader in a rollout.
func (c *Confirmation) NeedLeaderElection() bool { return false }

// pause is the pause between two attempts to reach Carve.
const pause = 5 * time.Second

// Start confirms until Carve responds or the context ends.
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
