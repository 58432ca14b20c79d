package storage

import (
	"context"
	"net/netip"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// ClaimReader reads claims, and what is to be known before one is made.
type ClaimReader interface {
	// ClaimGet answers a claim of whichever region: the server's own is looked at first.
	ClaimGet(ctx context.Context, project ProjectKey, name string) (ipam.Claim, error)
	// ClaimsHeld answers the ids of those of the claims that exist, each looked for in its own region by its allocation.
	ClaimsHeld(ctx context.Context, claims []ipam.Claim) (map[ipam.ID]bool, error)
	ClaimList(ctx context.Context, project ProjectKey, after string, limit int) ([]ipam.Claim, error)
	// ClaimListOwned is ClaimList of the claims with an ownerRef of this text.
	ClaimListOwned(ctx context.Context, project ProjectKey, owner, after string, limit int) ([]ipam.Claim, error)
	// ClaimListInPool answers the project's claims on a pool whose blocks begin inside within, in order of address.
	ClaimListInPool(ctx context.Context, project ProjectKey, pool Container, within netip.Prefix, after netip.Addr, limit int) ([]ipam.Claim, error)

	// AnswerGet finds the stored answer of an idempotency key that has not expired at now; ok is false when there is none.
	AnswerGet(ctx context.Context, projectID ipam.ID, key string, now time.Time) (answer Answer, ok bool, err error)

	// ClaimLookup reads in one round trip what creating a claim has to know first.
	ClaimLookup(ctx context.Context, q ClaimQuery) (ClaimFacts, error)
}

// ClaimQuery asks for the facts before a claim. Empty fields are not looked up. Pool may be another project's: it is answered if it is shared, and
// granted to this one.
type ClaimQuery struct {
	Project ProjectKey
	Name    string
	Pool    ipam.Ref
	Class   *ClassQuery
	Key     string
	Now     time.Time

	Generated bool // the name was generated: only in the server's own region can it be in use
}

// ClaimFacts answers a ClaimQuery; nil = does not exist.
type ClaimFacts struct {
	Claim   *ipam.Claim
	Pool    *ipam.Pool
	Granted bool // the pool is another project's, shared, and granted to this one
	Class   ClassFacts
	Answer  *Answer
}

// Answer is what was answered to a request with an idempotency key.
type Answer struct {
	ProjectID   ipam.ID
	Key         string
	Fingerprint [16]byte  // of operation and request
	Body        []byte    // what the use case makes of what it has made
	CreatedAt   time.Time // not stored: the answer takes the place of one that has expired by then
	ExpiresAt   time.Time
}
