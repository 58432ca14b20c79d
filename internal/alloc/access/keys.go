package access

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/kind"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// Keys contains the use cases for API keys.
type Keys struct{ of kind.Kind[ipam.APIKey] }

func newKeys(core *usecase.Core) *Keys {
	s := &Keys{}
	s.of = kind.Kind[ipam.APIKey]{
		Core: core, Name: trail.KindKey, Op: "key", Reads: tenancy.KeysRead, Writes: tenancy.KeysWrite,
		Head:   func(k *ipam.APIKey) *ipam.Metadata { return &k.Metadata },
		Find:   func(read storage.Reader) kind.Finder[ipam.APIKey] { return read.KeyGet },
		Write:  func(ch *storage.Changes, was, now *ipam.APIKey) { ch.KeyInsert, ch.KeyDelete = now, was },
		Record: func(k ipam.APIKey) *trail.Record { return trail.Recorded(k.Metadata, k.Spec) },
	}
	return s
}

// ListKeys lists a project's API keys by name.
func (s *Keys) ListKeys(ctx context.Context, project string, limit int, cursor string, r usecase.Reading) (paging.Page[ipam.APIKey], error) {
	return s.of.List(ctx, project, "keys", storage.Reader.KeyList, limit, cursor, r)
}

// GetKey reads one API key.
func (s *Keys) GetKey(ctx context.Context, project, name string) (ipam.APIKey, error) {
	return s.of.Get(ctx, project, name)
}

// CreateKey makes an API key. Only this response contains the token. A repeat with the same idempotency key and a dry run return no token, because
// Carve never stores it. Only a project's admin may make keys, so a key never has more rights than its maker.
func (s *Keys) CreateKey(ctx context.Context, project string, k ipam.APIKey, r usecase.Request) (usecase.Result[ipam.APIKey], error) {
	none := usecase.Result[ipam.APIKey]{}
	who, in, err := s.of.Enter(ctx, tenancy.KeysWrite, project)
	if err != nil {
		return none, err
	}
	if err := usecase.CheckNew(&k.Metadata, s.check(&k.Spec)); err != nil {
		return none, err
	}
	k.Metadata = s.of.NewMetadata(k.Metadata, project, "", who)
	k.ProjectID, k.LastUsedAt = in.ID, time.Time{}
	token, secret := tenancy.NewToken(k.UID)
	k.Hash, k.Token = tenancy.HashSecret(secret), ""
	made, err := s.of.Create(ctx, in, k, r, storage.Locks{}, func(ctx context.Context, tx storage.Tx, _, _ *ipam.APIKey) (storage.Changes, error) {
		have, err := tx.KeyList(ctx, in, "", MaxKeys)
		if err != nil {
			return storage.Changes{}, err
		}
		if len(have) == MaxKeys {
			return storage.Changes{}, usecase.ProjectFull(in.Name, "API key", MaxKeys, "Delete one first.")
		}
		return storage.Changes{}, usecase.CheckProjectExists(ctx, tx, in)
	})
	if err == nil && !made.Replayed && !r.DryRun {
		made.Value.Token = token
	}
	return made, err
}

// MaxKeys limits the API keys in a project. Without this limit, a project could evade the rate limits, which treat each key as a separate caller.
const MaxKeys = 256

// check validates a key's spec, and truncates its expiry to the database's precision.
func (s *Keys) check(spec *ipam.APIKeySpec) error {
	if err := checkRole(spec.Role); err != nil {
		return err
	}
	if !spec.ExpiresAt.IsZero() {
		spec.ExpiresAt = spec.ExpiresAt.UTC().Truncate(time.Microsecond)
		if !spec.ExpiresAt.After(s.of.Now()) {
			return ipam.Invalid("/spec/expiresAt", "must be in the future; leave it out for a key that does not expire.")
		}
		if spec.ExpiresAt.Year() > maxYear {
			return ipam.Invalid("/spec/expiresAt", "must not be after the year %d; leave it out for a key that does not expire.", maxYear)
		}
	}
	return ipam.CheckText("/spec/description", spec.Description, ipam.MaxDescription, true)
}

// maxYear is the last year that RFC 3339 can represent.
const maxYear = 9999

// DeleteKey revokes an API key.
func (s *Keys) DeleteKey(ctx context.Context, project, name string, r usecase.Request) error {
	return s.of.Remove(ctx, project, name, r, func(ctx context.Context, tx storage.Tx, in storage.ProjectKey, k ipam.APIKey) error {
		if !k.Spec.ExpiresAt.IsZero() { // an expiring key does not count as an admin
			return nil
		}
		return staysGoverned(ctx, tx, in, k.Spec.Role)
	})
}
