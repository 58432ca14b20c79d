package storage

import (
	"context"
	"net/netip"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// ClaimReader reads claims and the facts for their creation.
type ClaimReader interface {
	// ClaimGet returns a claim from any region. It searches the server's own region first.
	ClaimGet(ctx context.Context, project ProjectKey, name string) (ipam.Claim, error)
	// ClaimsHeld returns the ids of the claims that still exist. It looks up each claim by its allocation, in the region of the claim.
	ClaimsHeld(ctx context.Context, claims []ipam.Claim) (map[ipam.ID]bool, error)
	ClaimList(ctx context.Context, project ProjectKey, after string, limit int) ([]ipam.Claim, error)
	// ClaimListOwned is ClaimList for the claims with this ownerRef text.
	ClaimListOwned(ctx context.Context, project ProjectKey, owner, after string, limit int) ([]ipam.Claim, error)
	// ClaimListInPool returns the project's claims in a pool that begin inside within, ordered by address.
	ClaimListInPool(ctx context.Context, project ProjectKey, pool Container, within netip.Prefix, after netip.Addr, limit int) ([]ipam.Claim, error)

	// AnswerGet returns the stored response for an idempotency key that has not expired at now. If there is no such response, ok is false.
	AnswerGet(ctx context.Context, projectID ipam.ID, key string, now time.Time) (answer Answer, ok bool, err error)

	// ClaimLookup reads all facts that the creation of a claim needs, in one round trip.
	ClaimLookup(ctx context.Context, q ClaimQuery) (ClaimFacts, error)
}

// ClaimQuery requests the facts for the creation of a claim. Empty fields are not looked up. If Pool belongs to another project, it is returned only
// if it is shared and granted to this project.
type ClaimQuery struct {
	Project ProjectKey
	Name    string
	Pool    ipam.Ref
	Class   *ClassQuery
	Key     string
	Now     time.Time

	Generated bool // the server generated the name, so only the server's own region can contain it
}

// ClaimFacts is the result of a ClaimQuery. A nil field means that the object does not exist.
type ClaimFacts struct {
	Claim   *ipam.Claim
	Pool    *ipam.Pool
	Granted bool // the pool belongs to another project, is shared, and is granted to this project
	Class   ClassFacts
	Answer  *Answer
}

// Answer is the stored response to a request with an idempotency key.
type Answer struct {
	ProjectID   ipam.ID
	Key         string
	Fingerprint [16]byte  // hash of the operation and the request
	Body        []byte    // the created objects, as the use case encodes them
	CreatedAt   time.Time // not stored; a stored key that has expired at this time is replaced
	ExpiresAt   time.Time
}
