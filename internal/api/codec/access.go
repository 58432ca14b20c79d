package codec

import (
	"encoding/hex"
	"time"

	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

// MemberOf converts a member into its wire form.
func MemberOf(m ipam.Member) gen.Member {
	return gen.Member{Metadata: plainMetadataOf(m.Metadata), Spec: gen.MemberSpec{Role: gen.Role(m.Spec.Role)}}
}

// PutMember converts a PUT body into a member.
func PutMember(_, subject string, b gen.MemberPut) (ipam.Member, error) {
	return ipam.Member{Metadata: ipam.Metadata{Name: subject}, Spec: ipam.MemberSpec{Role: string(b.Spec.Role)}}, nil
}

// GrantOf converts a grant into its wire form. A grant's name is the consumer, which is the project that may use the pool or space.
func GrantOf(g ipam.Grant) gen.Grant {
	return gen.Grant{Metadata: plainMetadataOf(g.Metadata), Spec: gen.GrantSpec{Consumer: g.Name}}
}

// plainMetadataOf returns metadata without labels and region, for the kinds that have neither.
func plainMetadataOf(m ipam.Metadata) gen.PlainMetadata {
	return gen.PlainMetadata{
		Name: m.Name, UID: m.UID.String(), Project: m.Project, Generation: m.Generation, Revision: m.Revision.String(),
		CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt, CreatedBy: m.CreatedBy,
	}
}

// NewKey converts a POST body into a key.
func NewKey(_ string, b gen.APIKeyCreate) (ipam.APIKey, error) {
	meta, err := newMetadata(b.Metadata)
	k := ipam.APIKey{Metadata: meta, Spec: ipam.APIKeySpec{Role: string(b.Spec.Role), Description: b.Spec.Description}}
	if at := b.Spec.ExpiresAt; at != nil {
		// This changes the body too, because the body is fingerprinted. The same time in another zone must be the same request.
		*at = at.UTC()
		k.Spec.ExpiresAt = *at
	}
	return k, err
}

// KeyOf converts a key into its wire form, without the token. The key's phase depends on now.
func KeyOf(k ipam.APIKey, now time.Time) gen.APIKey {
	return gen.APIKey{
		Metadata: metadataOf(k.Metadata),
		Spec: gen.APIKeySpec{
			Role: gen.Role(k.Spec.Role), ExpiresAt: OptionalTime(k.Spec.ExpiresAt), Description: k.Spec.Description,
		},
		Status: gen.APIKeyStatus{
			KeyID: hex.EncodeToString(k.UID[:]), Phase: gen.APIKeyPhase(k.Phase(now)), LastUsedAt: OptionalTime(k.LastUsedAt),
		},
	}
}

// OptionalTime returns nil for the zero time.
func OptionalTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
