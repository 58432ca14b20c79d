package usecase

import (
	"context"

	"github.com/carve-ipam/carve/internal/ipam"
)

// StillHeld checks the claims that an earlier request created. If one of them was released, it returns claim_released, because the block may belong
// to another claim by now.
//
// The caller must read the stored response first. One transaction writes the claims and the response. So if a claim is missing after the response was
// read, it was released. A claim never moves to another region or another allocation.
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
		return released("The request with this Idempotency-Key made claim %s, which has been released since. Use a new key to make a new claim.", gone[0].Ref())
	case len(gone) == len(made):
		return released("The request with this Idempotency-Key made %d claims, which have all been released since, claim %s among them. Use a new key to make new claims.",
			len(made), gone[0].Ref())
	default:
		return released("The request with this Idempotency-Key made %d claims; %d of them have been released since, claim %s among them. "+
			"The others are still held; read them by name. Use a new key to make new claims.", len(made), len(gone), gone[0].Ref())
	}
}

func released(format string, args ...any) error {
	return ipam.Errorf(ipam.CodeClaimReleased, format, args...).At("header:Idempotency-Key", "belongs to a request whose claim was released.")
}
