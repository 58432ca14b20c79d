package client

import (
	"context"
	"fmt"
	"net/netip"
)

// Claim asks for a block under a name, and answers the block. Asked again with the same name and spec, by this program or
// after it was started anew, it answers the same block: the name is the key. With another spec it is refused
// (already_exists).
func (c *Carve) Claim(ctx context.Context, project, name string, spec IPClaimSpec) (netip.Prefix, error) {
	answer, err := c.PutClaimWithResponse(ctx, project, name, nil, IPClaimPut{Spec: spec})
	if err != nil {
		return netip.Prefix{}, err
	}
	claim := answer.JSON201
	if claim == nil {
		claim = answer.JSON200
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
	found, err := c.GetClaimWithResponse(ctx, project, name, nil)
	if err != nil {
		return err
	}
	tag := found.HTTPResponse.Header.Get("ETag")
	_, err = c.DeleteClaimWithResponse(ctx, project, name, &DeleteClaimParams{IfMatch: &tag})
	return err
}
