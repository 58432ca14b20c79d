package lookup

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// ConsumersNamed implements storage.Reader.
func (r Reader) ConsumersNamed(ctx context.Context, projectID ipam.ID, refs []ipam.ConsumerRef) ([]ipam.Consumer, error) {
	realms, uids := make([]string, len(refs)), make([]string, len(refs))
	for i, ref := range refs {
		realms[i], uids[i] = ref.Realm, ref.UID
	}
	found, err := List(ctx, r, "consumers_named", rows.Consumers.Scan, r.region, projectID, realms, uids)
	if err != nil || len(found) >= len(refs) || !r.regions.Several() {
		return found, err
	}
	elsewhere, err := List(ctx, r, "consumers_named_elsewhere", rows.Consumers.Scan, r.region, projectID, realms, uids)
	return append(found, elsewhere...), err
}

// RegionsOf implements storage.Reader.
func (r Reader) RegionsOf(ctx context.Context, projectID ipam.ID) ([]string, error) {
	return List(ctx, r, "project_region_list", pgx.RowTo[string], projectID)
}

// regionsOf returns the regions in which a project may have claims and consumers. If the database has only one region, regionsOf sends no query.
func (r Reader) regionsOf(ctx context.Context, projectID ipam.ID) ([]string, error) {
	if !r.regions.Several() {
		return []string{r.region}, nil
	}
	return r.RegionsOf(ctx, projectID)
}

// ConsumerList implements storage.Reader.
func (r Reader) ConsumerList(ctx context.Context, project storage.ProjectKey, realm, after string, limit int) ([]ipam.Consumer, error) {
	scan := func(row pgx.CollectableRow) (ipam.Consumer, error) {
		c, err := rows.Consumers.Scan(row)
		c.Project = project.Name
		return c, err
	}
	regions, err := r.regionsOf(ctx, project.ID)
	if err != nil {
		return nil, err
	}
	return listEverywhere(ctx, r, "consumer_list", scan, regions, byName, limit, project.ID, realm, after, limit)
}

// ConsumersDue implements storage.Reader. It skips consumers whose time to live is above the limit in by.MaxTTL. It skips them in Go and not in SQL,
// because with an SQL condition the database would read on until it had found enough other consumers.
func (r Reader) ConsumersDue(ctx context.Context, by storage.Expiry, from time.Time) (realms []storage.RealmKey, next time.Time, err error) {
	found, err := List(ctx, r, "consumer_due", scanExpired, r.region, from, by.Before, maxDue)
	seen := make(map[storage.RealmKey]bool)
	for _, e := range found {
		if e.ttl <= int64(by.MaxTTL/time.Second) && !seen[e.RealmKey] {
			seen[e.RealmKey], realms = true, append(realms, e.RealmKey)
		}
	}
	if len(found) == maxDue {
		next = found[maxDue-1].at
	}
	return realms, next, err
}

// maxDue limits the consumers that one read examines to find realms with expired consumers. Consumers that expire at exactly the same time were
// renewed by one request, and one request renews far fewer consumers.
const maxDue = 20000

type expired struct {
	storage.RealmKey

	at  time.Time
	ttl int64 // in seconds
}

func scanExpired(row pgx.CollectableRow) (e expired, err error) {
	err = row.Scan(&e.ProjectID, &e.Name, &e.at, &e.ttl)
	return e, err
}

func scanRealm(row pgx.CollectableRow) (k storage.RealmKey, err error) {
	err = row.Scan(&k.ProjectID, &k.Name)
	return k, err
}

// ConsumerDueList implements storage.Reader.
func (r Reader) ConsumerDueList(ctx context.Context, projectID ipam.ID, realm string, by storage.Expiry, limit int) ([]ipam.Consumer, error) {
	return List(ctx, r, "consumer_due_list", rows.Consumers.Scan, r.region, projectID, realm, by.Before, int64(by.MaxTTL/time.Second), limit)
}

// ConsumersDraining implements storage.Reader.
func (r Reader) ConsumersDraining(ctx context.Context, after time.Time, limit int) ([]ipam.Consumer, error) {
	return List(ctx, r, "consumer_draining", rows.Consumers.Scan, r.region, after, limit)
}

// AttachmentGet implements storage.Reader.
func (r Reader) AttachmentGet(ctx context.Context, c ipam.Claim, ref ipam.ConsumerRef) (ipam.Attachment, error) {
	return readOne(ctx, r, "attachment_get", rows.Attachments.Scan, NotFound("Consumer %s is not attached to claim %s.", ref, c.Ref()),
		c.Region, c.ProjectID, c.UID, ref.Realm, ref.UID)
}

// AttachmentList implements storage.Reader.
func (r Reader) AttachmentList(ctx context.Context, c ipam.Claim, after ipam.ConsumerRef, limit int) ([]ipam.Attachment, error) {
	return List(ctx, r, "attachment_list", rows.Attachments.Scan, c.Region, c.ProjectID, c.UID, after.Realm, after.UID, limit)
}

// AttachmentListOf implements storage.Reader.
func (r Reader) AttachmentListOf(ctx context.Context, projectID ipam.ID, ref ipam.ConsumerRef, limit int) ([]ipam.Attachment, error) {
	found, err := List(ctx, r, "attachment_list_of", rows.Attachments.Scan, r.region, projectID, ref.Realm, ref.UID, limit)
	if err != nil || len(found) == limit || !r.regions.Several() {
		return found, err
	}
	elsewhere, err := List(ctx, r, "attachment_list_of_elsewhere", rows.Attachments.Scan, r.region, projectID, ref.Realm, ref.UID, limit-len(found))
	return append(found, elsewhere...), err
}

// AttachmentCount implements storage.Reader.
func (r Reader) AttachmentCount(ctx context.Context, projectID ipam.ID, ref ipam.ConsumerRef) (int64, error) {
	return exactlyOne(ctx, r, "attachment_count", pgx.RowTo[int64], projectID, ref.Realm, ref.UID)
}

// ClaimListOfConsumer implements storage.Reader.
func (r Reader) ClaimListOfConsumer(ctx context.Context, project storage.ProjectKey, ref ipam.ConsumerRef, after string, limit int) ([]ipam.Claim, error) {
	return r.claims(ctx, "claim_list_of_consumer", project, limit, ref.Realm, ref.UID, after)
}

// RealmCount implements storage.Reader.
func (r Reader) RealmCount(ctx context.Context, projectID ipam.ID, realm string, lostAfter, expiredAfter time.Time) (live, lost int64, err error) {
	counted, err := exactlyOne(ctx, r, "realm_count", func(row pgx.CollectableRow) (n [2]int64, err error) {
		err = row.Scan(&n[0], &n[1])
		return n, err
	}, r.region, projectID, realm, lostAfter, expiredAfter)
	return counted[0], counted[1], err
}

// RealmGet implements storage.Reader.
func (r Reader) RealmGet(ctx context.Context, projectID ipam.ID, realm string) (ipam.RealmState, error) {
	return firstOrZero(ctx, r, "realm_get", rows.Realms.Scan, r.region, projectID, realm)
}

// RealmsHeld implements storage.Reader.
func (r Reader) RealmsHeld(ctx context.Context, after ipam.ID, limit int) ([]storage.RealmKey, error) {
	return List(ctx, r, "realm_held", scanRealm, r.region, after, limit)
}

// ProjectsCrowded implements storage.Reader.
func (r Reader) ProjectsCrowded(ctx context.Context, ids []ipam.ID, least int) ([]ipam.ID, error) {
	return List(ctx, r, "consumer_crowds", pgx.RowTo[ipam.ID], r.region, ids, least-1)
}

// CountOtherRealms implements storage.Reader.
func (r Reader) CountOtherRealms(ctx context.Context, realm storage.RealmKey, since time.Time) (int64, error) {
	return exactlyOne(ctx, r, "realm_others", pgx.RowTo[int64], r.region, realm.ProjectID, realm.Name, since)
}

// ProjectKeys implements storage.Reader.
func (r Reader) ProjectKeys(ctx context.Context, ids []ipam.ID) ([]storage.ProjectKey, error) {
	return List(ctx, r, "project_keys", func(row pgx.CollectableRow) (k storage.ProjectKey, err error) {
		err = row.Scan(&k.ID, &k.Name)
		return k, err
	}, ids)
}

// RealmDue implements storage.Reader.
func (r Reader) RealmDue(ctx context.Context, realm storage.RealmKey, by storage.Expiry) (int64, error) {
	return exactlyOne(ctx, r, "realm_due", pgx.RowTo[int64], r.region, realm.ProjectID, realm.Name,
		by.Before, int64(by.MaxTTL/time.Second))
}

// RealmExpired implements storage.Reader.
func (r Reader) RealmExpired(ctx context.Context, projectID ipam.ID, realm string, before time.Time) (int64, error) {
	return exactlyOne(ctx, r, "realm_expired", pgx.RowTo[int64], r.region, projectID, realm, before)
}
