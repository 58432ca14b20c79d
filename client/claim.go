package client

import (
	"context"
	"fmt"
	"net/netip"
	"strconv"
)

// Claim requests a block under a name and returns the block. The name identifies the claim. A later call with the same name and spec returns the same
// block, even after the program restarts. A call with the same name and another spec fails with already_exists.
func (c *Carve) Claim(ctx context.Context, project, name string, spec IPClaimSpec) (netip.Prefix, error) {
	claim, err := c.PutClaim(ctx, project, name, IPClaimPut{Spec: spec})
	if err != nil {
		return netip.Prefix{}, err
	}
	block, err := netip.ParsePrefix(claim.Status.AllocatedCIDR)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("client: the block of claim %s/%s: %w", project, name, err)
	}
	return block, nil
}

// Release deletes a claim. It reads the claim first and deletes only the revision that it read. A retry therefore never deletes a newer claim that
// another client has created under the same name. If the claim does not exist, Release fails with not_found ([IsNotFound]).
func (c *Carve) Release(ctx context.Context, project, name string) error {
	found, err := c.GetClaim(ctx, project, name)
	if err != nil {
		return err
	}
	return c.DeleteClaim(ctx, project, name, DeleteClaimParams{IfMatch: new(strconv.Quote(found.Metadata.Revision))})
}
