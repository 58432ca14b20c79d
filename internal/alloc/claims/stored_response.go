package claims

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// storedResponseFormat is the version of the stored response to a request that created claims. The response contains only the data that the server
// added to the request. A client that repeats the request sends the rest, and the stored fingerprint proves that the request is the same.
//
// The format begins with the creator's name. Then it has, for each claim, a set of bits, the ids, the block, and the fields that the bits announce.
const storedResponseFormat = 1

// These bits describe a claim in the stored response. The ids and the block are always present.
const (
	bitPlace   = 1 << iota // pool, policy and region differ from the previous claim
	bitName                // the server generated the name
	bitHold                // the claim took over a retained allocation
	bitOwner               // another project owns the pool
	bitPool                // the pool's name, if the request did not name that pool
	bitClass               // the class that served the claim
	bitRegion              // region, if not the requested one
	bitPolicy              // reclaim policy, if not Delete
	bitReserve             // cool-down
)

var errStoredResponse = errors.New("the stored response has another format, or belongs to another request")

// encodeResponse encodes the stored response to a request that created these claims.
func encodeResponse(orders []*order, made []ipam.Claim) []byte {
	b := appendText(append(make([]byte, 0, 128+48*len(made)), storedResponseFormat), made[0].CreatedBy)
	var before ipam.Claim
	for i := range made {
		b = appendClaim(b, &made[i], &before, orders[i])
		before = made[i]
	}
	return b
}

func appendClaim(b []byte, c, before *ipam.Claim, o *order) []byte {
	has := bitsOf(c, before, o)
	b = binary.AppendUvarint(b, has)
	b = append(append(b, c.UID[:]...), c.Revision[:]...)
	b = appendText(b, c.Block.Addr().AsSlice())
	b = append(b, byte(c.Block.Bits())) //nolint:gosec // at most 128
	if has&bitName != 0 {
		b = appendText(b, c.Name)
	}
	if has&bitHold != 0 {
		b = append(b, c.AllocationID[:]...)
		b = appendText(binary.AppendVarint(b, c.Allocated.CreatedAt.UnixMicro()), c.Allocated.CreatedBy)
	}
	if has&bitPlace == 0 {
		return b
	}
	b = append(b, c.PoolID[:]...)
	if has&bitOwner != 0 {
		b = append(b, c.PoolProjectID[:]...)
	}
	if has&bitPool != 0 {
		b = appendRef(b, c.Pool)
	}
	if has&bitClass != 0 {
		b = appendRef(append(b, c.Class.ID[:]...), c.Class.Ref)
	}
	if has&bitRegion != 0 {
		b = appendText(b, c.Region)
	}
	if has&bitPolicy != 0 {
		b = appendText(b, string(c.ReclaimPolicy))
	}
	if has&bitReserve != 0 {
		b = binary.AppendVarint(b, int64(c.ReuseAfter))
	}
	return b
}

// bitsOf returns a claim's bits. They announce the data that follow neither from the request nor from the previous claim.
func bitsOf(c, before *ipam.Claim, o *order) (has uint64) {
	setIf := func(what uint64, is bool) {
		if is {
			has |= what
		}
	}
	setIf(bitName, o.claim.GeneratedFrom != "")
	setIf(bitHold, c.AllocationID != o.claim.AllocationID)
	if c.PoolID == before.PoolID && c.Class == before.Class && c.Region == before.Region && c.ReclaimPolicy == before.ReclaimPolicy &&
		c.ReuseAfter == before.ReuseAfter {
		return has
	}
	has |= bitPlace
	setIf(bitOwner, c.PoolProjectID != c.ProjectID)
	setIf(bitPool, c.Pool != c.Spec.PoolRef)
	setIf(bitClass, !c.Class.IsZero())
	setIf(bitRegion, c.Region != o.claim.Region)
	setIf(bitPolicy, c.ReclaimPolicy != ipam.ReclaimDelete)
	setIf(bitReserve, c.ReuseAfter != 0)
	return has
}

// decodeResponse decodes the claims in a stored response. The orders come from the repeated request.
func decodeResponse(orders []*order, a storage.StoredResponse) ([]ipam.Claim, error) {
	if len(a.Body) == 0 || a.Body[0] != storedResponseFormat {
		return nil, errStoredResponse
	}
	from := responseDecoder{rest: a.Body[1:]}
	by, at := from.text(), a.ExpiresAt.Add(-usecase.StoredResponseLifetime)
	made := make([]ipam.Claim, len(orders))
	var before ipam.Claim
	for i, o := range orders {
		c := &made[i]
		*c = o.claim
		c.Spec.Consumers = nil
		c.CreatedBy, c.CreatedAt, c.UpdatedAt = by, at, at
		from.claim(c, &before)
		before = *c
	}
	if from.bad || len(from.rest) > 0 {
		return nil, errStoredResponse
	}
	return made, nil
}

type responseDecoder struct {
	rest []byte
	bad  bool
}

// claim decodes one claim. c starts as the requested claim.
func (t *responseDecoder) claim(c, before *ipam.Claim) {
	has := t.number()
	c.UID, c.Revision = t.id(), t.id()
	c.AllocationID = allocationOf(c.UID)
	addr, ok := netip.AddrFromSlice(t.take(t.number()))
	bits := t.take(1)
	if !ok || t.bad {
		t.bad = true
		return
	}
	c.Block = netip.PrefixFrom(addr, int(bits[0]))
	if has&bitName != 0 {
		c.Name = t.text()
	}
	if has&bitHold != 0 {
		c.AllocationID = t.id()
		c.Allocated.CreatedAt, c.Allocated.CreatedBy = time.UnixMicro(t.signed()).UTC(), t.text()
	}
	if has&bitPlace == 0 {
		c.Pool, c.PoolID, c.PoolProjectID, c.Class = before.Pool, before.PoolID, before.PoolProjectID, before.Class
		c.Region, c.ReclaimPolicy, c.ReuseAfter = before.Region, before.ReclaimPolicy, before.ReuseAfter
		return
	}
	c.PoolID, c.PoolProjectID, c.Pool, c.ReclaimPolicy = t.id(), c.ProjectID, c.Spec.PoolRef, ipam.ReclaimDelete
	if has&bitOwner != 0 {
		c.PoolProjectID = t.id()
	}
	if has&bitPool != 0 {
		c.Pool = t.ref()
	}
	if has&bitClass != 0 {
		c.Class = ipam.ClassRef{ID: t.id(), Ref: t.ref()}
	}
	if has&bitRegion != 0 {
		c.Region = t.text()
	}
	if has&bitPolicy != 0 {
		c.ReclaimPolicy = ipam.ReclaimPolicy(t.text())
	}
	if has&bitReserve != 0 {
		c.ReuseAfter = time.Duration(t.signed())
	}
}

func appendText[T string | []byte](b []byte, text T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

func appendRef(b []byte, r ipam.Ref) []byte { return appendText(appendText(b, r.Project), r.Name) }

// take returns the next n bytes, or nil if fewer are left.
func (t *responseDecoder) take(n uint64) []byte {
	if t.bad || n > uint64(len(t.rest)) {
		t.bad = true
		return nil
	}
	taken := t.rest[:n]
	t.rest = t.rest[n:]
	return taken
}

func (t *responseDecoder) text() string { return string(t.take(t.number())) }

func (t *responseDecoder) ref() ipam.Ref { return ipam.Ref{Project: t.text(), Name: t.text()} }

func (t *responseDecoder) id() (id ipam.ID) {
	copy(id[:], t.take(uint64(len(id))))
	return id
}

func (t *responseDecoder) number() uint64 {
	v, n := binary.Uvarint(t.rest)
	t.skip(n)
	return v
}

func (t *responseDecoder) signed() int64 {
	v, n := binary.Varint(t.rest)
	t.skip(n)
	return v
}

func (t *responseDecoder) skip(n int) {
	if n <= 0 {
		t.bad = true
		return
	}
	t.take(uint64(n))
}
