package storage

import (
	"context"
	"net/netip"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// ClaimReader reads claims, and the facts that are necessary to create them.
type ClaimReader interface {
	// ClaimGet returns a claim from any region. It searches the server's own region first.
	ClaimGet(ctx context.Context, project ProjectKey, name string) (ipam.Claim, error)
	// ClaimsHeld returns the ids of the claims that still exist. It looks up each claim by its allocation, in the claim's region.
	ClaimsHeld(ctx context.Context, claims []ipam.Claim) (map[ipam.ID]bool, error)
	ClaimList(ctx context.Context, project ProjectKey, after string, limit int) ([]ipam.Claim, error)
	// ClaimListOwned is ClaimList for the claims with this ownerRef text.
	ClaimListOwned(ctx context.Context, project ProjectKey, owner, after string, limit int) ([]ipam.Claim, error)
	// ClaimListInPool returns the project's claims in a pool whose blocks begin inside the block area, in address order.
	ClaimListInPool(ctx context.Context, project ProjectKey, pool Container, area netip.Prefix, after netip.Addr, limit int) ([]ipam.Claim, error)

	// StoredResponseGet returns the stored response for an idempotency key, if the response has not expired at the time now. If there is no such
	// response, ok is false.
	StoredResponseGet(ctx context.Context, projectID ipam.ID, key string, now time.Time) (response StoredResponse, ok bool, err error)

	// ClaimLookup reads all facts that are necessary to create a claim, in one round trip.
	ClaimLookup(ctx context.Context, q ClaimQuery) (ClaimFacts, error)
}

// ClaimQuery requests the facts that are necessary to create a claim. Empty fields are not looked up. If Pool belongs to another project, it is
// returned only if it is shared and granted to this project.
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
	Claim          *ipam.Claim
	Pool           *ipam.Pool
	Granted        bool // the pool belongs to another project, is shared, and is granted to this project
	Class          ClassFacts
	StoredResponse *StoredResponse
}

// StoredResponse is the stored response to a request with an idempotency key.
type StoredResponse struct {
	ProjectID   ipam.ID
	Key         string
	Fingerprint [16]byte  // hash for the operation and the request
	Body        []byte    // the created objects, as the use case encodes them
	CreatedAt   time.Time // not stored; a stored key that has expired at this time is replaced
	ExpiresAt   time.Time
}
