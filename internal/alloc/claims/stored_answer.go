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

// answerFormat is the version of the stored response to a request that created claims. The response contains only the data that the server added to
// the request. A client that repeats the request sends the rest, and the stored fingerprint proves that the request is the same.
//
// The format begins with the creator's name. Then it has, for each claim, a set of bits, the ids, the block, and the fields that the bits announce.
const answerFormat = 1

// The bits of a claim in the stored response. The ids and the block are always present.
const (
	answersPlace   = 1 << iota // pool, policy and region differ from the previous claim
	answersName                // the server generated the name
	answersHold                // the claim took over a retained allocation
	answersOwner               // another project owns the pool
	answersPool                // the name of the pool, if the request did not name that pool
	answersClass               // the class that served the claim
	answersRegion              // region, if not the requested one
	answersPolicy              // reclaim policy, if not Delete
	answersReserve             // cool-down
)

var errAnswer = errors.New("the stored response has another format, or belongs to another request")

// answerOf encodes the stored response to a request that created these claims.
func answerOf(orders []*order, made []ipam.Claim) []byte {
	b := appendText(append(make([]byte, 0, 128+48*len(made)), answerFormat), made[0].CreatedBy)
	var before ipam.Claim
	for i := range made {
		b = appendClaim(b, &made[i], &before, orders[i])
		before = made[i]
	}
	return b
}

func appendClaim(b []byte, c, before *ipam.Claim, o *order) []byte {
	has := answered(c, before, o)
	b = binary.AppendUvarint(b, has)
	b = append(append(b, c.UID[:]...), c.Revision[:]...)
	b = appendText(b, c.Block.Addr().AsSlice())
	b = append(b, byte(c.Block.Bits())) //nolint:gosec // at most 128
	if has&answersName != 0 {
		b = appendText(b, c.Name)
	}
	if has&answersHold != 0 {
		b = append(b, c.AllocationID[:]...)
		b = appendText(binary.AppendVarint(b, c.Allocated.CreatedAt.UnixMicro()), c.Allocated.CreatedBy)
	}
	if has&answersPlace == 0 {
		return b
	}
	b = append(b, c.PoolID[:]...)
	if has&answersOwner != 0 {
		b = append(b, c.PoolProjectID[:]...)
	}
	if has&answersPool != 0 {
		b = appendRef(b, c.Pool)
	}
	if has&answersClass != 0 {
		b = appendRef(append(b, c.Class.ID[:]...), c.Class.Ref)
	}
	if has&answersRegion != 0 {
		b = appendText(b, c.Region)
	}
	if has&answersPolicy != 0 {
		b = appendText(b, string(c.ReclaimPolicy))
	}
	if has&answersReserve != 0 {
		b = binary.AppendVarint(b, int64(c.ReuseAfter))
	}
	return b
}

// answered returns the bits of a claim. They announce the data that follow neither from the request nor from the previous claim.
func answered(c, before *ipam.Claim, o *order) (has uint64) {
	say := func(what uint64, is bool) {
		if is {
			has |= what
		}
	}
	say(answersName, o.claim.GeneratedFrom != "")
	say(answersHold, c.AllocationID != o.claim.AllocationID)
	if c.PoolID == before.PoolID && c.Class == before.Class && c.Region == before.Region && c.ReclaimPolicy == before.ReclaimPolicy &&
		c.ReuseAfter == before.ReuseAfter {
		return has
	}
	has |= answersPlace
	say(answersOwner, c.PoolProjectID != c.ProjectID)
	say(answersPool, c.Pool != c.Spec.PoolRef)
	say(answersClass, !c.Class.IsZero())
	say(answersRegion, c.Region != o.claim.Region)
	say(answersPolicy, c.ReclaimPolicy != ipam.ReclaimDelete)
	say(answersReserve, c.ReuseAfter != 0)
	return has
}

// madeBy decodes the claims of a stored response. The orders come from the repeated request.
func madeBy(orders []*order, a storage.Answer) ([]ipam.Claim, error) {
	if len(a.Body) == 0 || a.Body[0] != answerFormat {
		return nil, errAnswer
	}
	from := answerText{rest: a.Body[1:]}
	by, at := from.text(), a.ExpiresAt.Add(-usecase.AnswerLifetime)
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
		return nil, errAnswer
	}
	return made, nil
}

// answerText reads an encoded response.
type answerText struct {
	rest []byte
	bad  bool
}

// claim decodes one claim. c starts as the requested claim.
func (t *answerText) claim(c, before *ipam.Claim) {
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
	if has&answersName != 0 {
		c.Name = t.text()
	}
	if has&answersHold != 0 {
		c.AllocationID = t.id()
		c.Allocated.CreatedAt, c.Allocated.CreatedBy = time.UnixMicro(t.signed()).UTC(), t.text()
	}
	if has&answersPlace == 0 {
		c.Pool, c.PoolID, c.PoolProjectID, c.Class = before.Pool, before.PoolID, before.PoolProjectID, before.Class
		c.Region, c.ReclaimPolicy, c.ReuseAfter = before.Region, before.ReclaimPolicy, before.ReuseAfter
		return
	}
	c.PoolID, c.PoolProjectID, c.Pool, c.ReclaimPolicy = t.id(), c.ProjectID, c.Spec.PoolRef, ipam.ReclaimDelete
	if has&answersOwner != 0 {
		c.PoolProjectID = t.id()
	}
	if has&answersPool != 0 {
		c.Pool = t.ref()
	}
	if has&answersClass != 0 {
		c.Class = ipam.ClassRef{ID: t.id(), Ref: t.ref()}
	}
	if has&answersRegion != 0 {
		c.Region = t.text()
	}
	if has&answersPolicy != 0 {
		c.ReclaimPolicy = ipam.ReclaimPolicy(t.text())
	}
	if has&answersReserve != 0 {
		c.ReuseAfter = time.Duration(t.signed())
	}
}

func appendText[T string | []byte](b []byte, text T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

func appendRef(b []byte, r ipam.Ref) []byte { return appendText(appendText(b, r.Project), r.Name) }

// take returns the next n bytes, or nil if fewer are left.
func (t *answerText) take(n uint64) []byte {
	if t.bad || n > uint64(len(t.rest)) {
		t.bad = true
		return nil
	}
	taken := t.rest[:n]
	t.rest = t.rest[n:]
	return taken
}

func (t *answerText) text() string { return string(t.take(t.number())) }

func (t *answerText) ref() ipam.Ref { return ipam.Ref{Project: t.text(), Name: t.text()} }

func (t *answerText) id() (id ipam.ID) {
	copy(id[:], t.take(uint64(len(id))))
	return id
}

func (t *answerText) number() uint64 {
	v, n := binary.Uvarint(t.rest)
	t.skip(n)
	return v
}

func (t *answerText) signed() int64 {
	v, n := binary.Varint(t.rest)
	t.skip(n)
	return v
}

func (t *answerText) skip(n int) {
	if n <= 0 {
		t.bad = true
		return
	}
	t.take(uint64(n))
}
