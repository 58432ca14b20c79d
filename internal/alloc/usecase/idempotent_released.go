package usecase

import (
	"context"

	"github.com/carve-ipam/carve/internal/ipam"
)

// StillHeld checks the claims that an earlier request created. If any of them was released, it returns claim_released, because the block may belong
// to another claim by now.
//
// The caller must read the stored response first. One transaction writes the claims and the response. So a claim that is missing after this read was
// released. A claim never moves to another region or another allocation.
func (s *Core) StillHeld(ctx context.Context, made []ipam.Claim) error {
	held, err := s.Store.ClaimsHeld(ctx, made)
	if err != nil {
		return err
	}
	var gone []*ipam.Claim
	for i := range made {
		if !held[made[i].UID] {
			gone = append(gone, &made[i])
		}
	}
	switch {
	case len(gone) == 0:
		return nil
	case len(made) == 1:
		return released("An earlier request with this Idempotency-Key created claim %s, and this claim has been released. Use a new key to create another claim.", gone[0].Ref())
	case len(gone) == len(made):
		return released("An earlier request with this Idempotency-Key created %d claims, and all of them have been released, for example claim %s. Use a new key to create other claims.",
			len(made), gone[0].Ref())
	default:
		return released("An earlier request with this Idempotency-Key created %d claims, and %d of them have been released, for example claim %s. "+
			"Read the other claims by name, and use a new key to create other claims.", len(made), len(gone), gone[0].Ref())
	}
}

func released(format string, args ...any) error {
	return ipam.Errorf(ipam.CodeClaimReleased, format, args...).At("header:Idempotency-Key", "belongs to an earlier request whose claims have been released; use a new key.")
}
