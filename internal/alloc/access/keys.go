package access

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// ListKeys lists a project's API keys by name.
func (s *Access) ListKeys(ctx context.Context, project string, limit int, cursor string) (paging.Page[ipam.APIKey], error) {
	_, key, err := s.Enter(ctx, tenancy.KeysRead, project)
	if err != nil {
		return paging.Page[ipam.APIKey]{}, err
	}
	return paging.Scan(ctx, s.Searching, paging.ListOf("keys", key.ID), cursor, limit, func(after string, n int) ([]ipam.APIKey, error) {
		return s.Store.KeyList(ctx, key, after, n)
	}, usecase.Everything[ipam.APIKey], func(k ipam.APIKey) string { return k.Name })
}

// GetKey reads one API key.
func (s *Access) GetKey(ctx context.Context, project, name string) (ipam.APIKey, error) {
	_, key, err := s.Enter(ctx, tenancy.KeysRead, project)
	if err != nil {
		return ipam.APIKey{}, err
	}
	return s.Store.KeyGet(ctx, key, name)
}

// CreateKey makes an API key. Its token is in this answer alone: a repeat with the same idempotency key, and a dry run, have
// none, because it is stored nowhere. Whoever may make keys is an admin of the project, so no role is more than its own.
func (s *Access) CreateKey(ctx context.Context, project string, k ipam.APIKey, r usecase.Request) (usecase.Result[ipam.APIKey], error) {
	none := usecase.Result[ipam.APIKey]{}
	who, key, err := s.Enter(ctx, tenancy.KeysWrite, project)
	if err != nil {
		return none, err
	}
	if err := usecase.CheckNew(&k.Metadata, s.checkKey(&k.Spec)); err != nil {
		return none, err
	}
	k.Metadata = s.Fresh(k.Metadata, project, "", who)
	k.ProjectID, k.LastUsedAt = key.ID, time.Time{}
	token, secret := tenancy.NewToken(k.UID)
	k.Hash, k.Token = tenancy.HashSecret(secret), ""
	made, err := usecase.Once(ctx, s.Core, key, r, &k.Metadata, func(ctx context.Context) (ipam.APIKey, error) {
		stored, err := usecase.Answers(key.ID, r, k.CreatedAt, k)
		if err != nil {
			return k, err
		}
		return usecase.Settled(ctx, s.Core, "key_create", storage.Locks{}, r.DryRun, func(ctx context.Context, tx storage.Tx) (ipam.APIKey, error) {
			have, err := tx.KeyList(ctx, key, "", MaxKeys)
			if err != nil {
				return k, err
			}
			if len(have) == MaxKeys {
				return k, ipam.Errorf(ipam.CodeInvalidArgument, "Project %q has %d API keys, which is the most; delete one first.", key.Name, MaxKeys)
			}
			return insertKey(ctx, tx, k, stored)
		}, func(ctx context.Context) (ipam.APIKey, bool, error) {
			got, found, err := storage.IgnoreNotFound(s.Store.KeyGet(ctx, key, k.Name))
			return got, found && got.UID == k.UID, err
		})
	})
	if err == nil && !made.Replayed && !r.DryRun {
		made.Value.Token = token
	}
	return made, err
}

// MaxKeys is how many API keys a project can have: each is a caller of its own to the rate limits.
const MaxKeys = 256

// insertKey writes a key and the record of its creation.
func insertKey(ctx context.Context, tx storage.Tx, k ipam.APIKey, stored []storage.Answer) (ipam.APIKey, error) {
	if err := usecase.StillThere(ctx, tx, storage.ProjectKey{ID: k.ProjectID, Name: k.Project}); err != nil {
		return k, err
	}
	event, err := trail.Changed(ctx, k.CreatedAt, k.ProjectID, trail.KindKey, k.Name, nil, trail.Recorded(k.Metadata, k.Spec))
	if err != nil {
		return k, err
	}
	err = tx.Write(ctx, storage.Changes{AccessChanges: storage.AccessChanges{KeyInsert: &k}, Events: []ipam.Event{event}, Answers: stored})
	return k, err
}

// checkKey validates a key's spec, and stores its time as the database does.
func (s *Access) checkKey(spec *ipam.APIKeySpec) error {
	if err := checkRole(spec.Role); err != nil {
		return err
	}
	if !spec.ExpiresAt.IsZero() {
		spec.ExpiresAt = spec.ExpiresAt.UTC().Truncate(time.Microsecond)
		if !spec.ExpiresAt.After(s.Now()) {
			return ipam.Invalid("/spec/expiresAt", "must be in the future; leave it out for a key that does not expire.")
		}
		if spec.ExpiresAt.Year() > maxYear {
			return ipam.Invalid("/spec/expiresAt", "must not be after the year %d; leave it out for a key that does not expire.", maxYear)
		}
	}
	return ipam.CheckText("/spec/description", spec.Description, ipam.MaxDescription, true)
}

// maxYear is the last one that RFC 3339 can write.
const maxYear = 9999

// DeleteKey revokes an API key.
func (s *Access) DeleteKey(ctx context.Context, project, name string, r usecase.Request) error {
	_, key, err := s.Enter(ctx, tenancy.KeysWrite, project)
	if err != nil {
		return err
	}
	first, err := s.Store.KeyGet(ctx, key, name)
	if err != nil {
		return err
	}
	now := s.Now()
	_, err = usecase.Settled(ctx, s.Core, "key_delete", storage.Locks{}, r.DryRun, func(ctx context.Context, tx storage.Tx) (struct{}, error) {
		var none struct{}
		k, err := tx.KeyGet(ctx, key, name)
		if err != nil {
			return none, err
		}
		if err := r.IfMatch.Check(k.Revision); err != nil {
			return none, err
		}
		if k.Spec.ExpiresAt.IsZero() { // one that expires is no admin to rely on, and was not counted
			if err := staysGoverned(ctx, tx, key, k.Spec.Role); err != nil {
				return none, err
			}
		}
		event, err := trail.Changed(ctx, now, key.ID, trail.KindKey, name, trail.Recorded(k.Metadata, k.Spec), nil)
		if err != nil {
			return none, err
		}
		return none, tx.Write(ctx, storage.Changes{AccessChanges: storage.AccessChanges{KeyDelete: &k}, Events: []ipam.Event{event}})
	}, func(ctx context.Context) (struct{}, bool, error) {
		got, found, err := storage.IgnoreNotFound(s.Store.KeyGet(ctx, key, name))
		return struct{}{}, !found || got.UID != first.UID, err
	})
	return err
}
