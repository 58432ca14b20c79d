package client

import (
	"context"
	"fmt"
	"net/netip"
	"strconv"
)

// Claim asks for a block under a name, and answers the block. Asked again with the same name and spec, by this program or
// after it was started anew, it answers the same block: the name is the key. With another spec it is refused
// (already_exists).
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

// Release deletes a claim. It reads the claim first and deletes that very one, so that it can be repeated safely: never is a
// claim deleted that somebody made under the name meanwhile. A claim that is not there is not_found ([IsNotFound]).
func (c *Carve) Release(ctx context.Context, project, name string) error {
	found, err := c.GetClaim(ctx, project, name)
	if err != nil {
		return err
	}
	return c.DeleteClaim(ctx, project, name, DeleteClaimParams{IfMatch: new(strconv.Quote(found.Metadata.Revision))})
}
