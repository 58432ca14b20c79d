package codec

import (
	"encoding/hex"
	"time"

	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

// MemberOf is a member as it is answered.
func MemberOf(m ipam.Member) gen.Member {
	return gen.Member{Metadata: plainMetadataOf(m.Metadata), Spec: gen.MemberSpec{Role: gen.Role(m.Spec.Role)}}
}

// PutMember reads a member that is to be made or replaced.
func PutMember(_, subject string, b gen.MemberPut) (ipam.Member, error) {
	return ipam.Member{Metadata: ipam.Metadata{Name: subject}, Spec: ipam.MemberSpec{Role: string(b.Spec.Role)}}, nil
}

// GrantOf renders a grant. Its consumer is its name.
func GrantOf(g ipam.Grant) gen.Grant {
	return gen.Grant{Metadata: plainMetadataOf(g.Metadata), Spec: gen.GrantSpec{Consumer: g.Name}}
}

// plainMetadataOf is metadataOf for what has no labels and lives in no region.
func plainMetadataOf(m ipam.Metadata) gen.PlainMetadata {
	return gen.PlainMetadata{
		Name: m.Name, UID: m.UID.String(), Project: m.Project, Generation: m.Generation, Revision: m.Revision.String(),
		CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt, CreatedBy: m.CreatedBy,
	}
}

// NewKey reads a key that is to be made.
func NewKey(_ string, b gen.APIKeyCreate) (ipam.APIKey, error) {
	meta, err := newMetadata(b.Metadata)
	k := ipam.APIKey{Metadata: meta, Spec: ipam.APIKeySpec{Role: string(b.Spec.Role), Description: b.Spec.Description}}
	if at := b.Spec.ExpiresAt; at != nil {
		*at = at.UTC() // in the body too, of which a fingerprint is made: one moment is one request, whichever zone it was written in
		k.Spec.ExpiresAt = *at
	}
	return k, err
}

// KeyOf renders a key as it is now. The token is not its business.
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

// OptionalTime is a time that may be none.
func OptionalTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
