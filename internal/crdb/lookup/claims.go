package lookup

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

func claimIn(project storage.ProjectKey) pgx.RowToFunc[ipam.Claim] {
	return func(row pgx.CollectableRow) (ipam.Claim, error) {
		c, err := rows.Claims.Scan(row)
		c.Project, c.ProjectID = project.Name, project.ID
		return c, err
	}
}

// ClaimGet implements storage.Reader.
func (r Reader) ClaimGet(ctx context.Context, project storage.ProjectKey, name string) (ipam.Claim, error) {
	c, err := readOne(ctx, r, "claim_get", claimIn(project), NotFound("Claim %s/%s was not found.", project.Name, name), r.region, project.ID, name)
	if !r.regions.Several() || !ipam.IsCode(err, ipam.CodeNotFound) {
		return c, err
	}
	if found, there, failed := r.claimElsewhere(ctx, project, name); there || failed != nil {
		return found, failed
	}
	return c, err
}

// claimElsewhere looks for a claim in the regions other than the store's own.
func (r Reader) claimElsewhere(ctx context.Context, project storage.ProjectKey, name string) (ipam.Claim, bool, error) {
	return First(ctx, r, "claim_get_elsewhere", claimIn(project), r.region, project.ID, name)
}

// ClaimsHeld implements storage.Reader.
func (r Reader) ClaimsHeld(ctx context.Context, claims []ipam.Claim) (map[ipam.ID]bool, error) {
	regions, allocations, ids := make([]string, len(claims)), make([]ipam.ID, len(claims)), make([]ipam.ID, len(claims))
	for i := range claims {
		regions[i], allocations[i], ids[i] = cmp.Or(claims[i].Region, r.region), claims[i].AllocationID, claims[i].UID
	}
	found, err := List(ctx, r, "claims_held", pgx.RowTo[ipam.ID], regions, allocations, ids)
	held := make(map[ipam.ID]bool, len(found))
	for _, id := range found {
		held[id] = true
	}
	return held, err
}

// ClaimList implements storage.Reader.
func (r Reader) ClaimList(ctx context.Context, project storage.ProjectKey, after string, limit int) ([]ipam.Claim, error) {
	return r.claims(ctx, "claim_list", project, limit, after)
}

// ClaimListOwned implements storage.Reader.
func (r Reader) ClaimListOwned(ctx context.Context, project storage.ProjectKey, owner, after string, limit int) ([]ipam.Claim, error) {
	return r.claims(ctx, "claim_list_owned", project, limit, rows.OwnerKey(owner), after)
}

// claims returns one page with a project's claims, sorted by name. It reads all regions in which the project may have claims.
func (r Reader) claims(ctx context.Context, name string, project storage.ProjectKey, limit int, args ...any) ([]ipam.Claim, error) {
	regions, err := r.regionsOf(ctx, project.ID)
	if err != nil {
		return nil, err
	}
	return listEverywhere(ctx, r, name, claimIn(project), regions, byName, limit, slices.Concat([]any{project.ID}, args, []any{limit})...)
}

// ClaimListInPool implements storage.Reader.
func (r Reader) ClaimListInPool(ctx context.Context, project storage.ProjectKey, pool storage.Container, within netip.Prefix, from netip.Addr, limit int) ([]ipam.Claim, error) {
	return List(ctx, r, "claim_list_in_pool", claimIn(project),
		pool.Region, pool.ProjectID, pool.ID, rows.After(from), rows.Base(within), rows.Last(within), project.ID, limit)
}

// StoredResponseGet implements storage.Reader.
func (r Reader) StoredResponseGet(ctx context.Context, projectID ipam.ID, key string, now time.Time) (storage.StoredResponse, bool, error) {
	return First(ctx, r, "answer_get", rows.StoredResponses.Scan, r.region, projectID, rows.IdempotencyKey(key), now)
}

// ClaimLookup implements storage.Reader.
func (r Reader) ClaimLookup(ctx context.Context, q storage.ClaimQuery) (storage.ClaimFacts, error) {
	var facts storage.ClaimFacts
	var regions []string
	err := r.run(ctx, "claim_lookup", func(db Querier) error {
		facts = storage.ClaimFacts{}
		b := &pgx.Batch{}
		b.Queue(query.Get("claim_get"), r.region, q.Project.ID, q.Name)
		named := q.Pool != ipam.Ref{}
		foreign := named && q.Pool.Project != q.Project.Name
		switch {
		case foreign:
			b.Queue(query.Get("pool_get_granted"), q.Pool.Project, q.Pool.Name, consumerNames(q.Project.Name))
		case named:
			b.Queue(query.Get("pool_get"), q.Project.ID, q.Pool.Name)
		}
		if q.Key != "" {
			b.Queue(query.Get("answer_get"), r.region, q.Project.ID, rows.IdempotencyKey(q.Key), q.Now)
		}
		if q.Class != nil {
			queueClass(b, q.Project, *q.Class)
		}
		wide := r.regions.Several() && !q.Generated
		if wide {
			b.Queue(query.Get("project_region_list"), q.Project.ID)
		}
		results := db.SendBatch(ctx, b)
		err := errors.Join(
			readOptional(results, claimIn(q.Project), &facts.Claim, true),
			readOptional(results, rows.Pools.Scan, &facts.Pool, named),
			readOptional(results, rows.StoredResponses.Scan, &facts.StoredResponse, q.Key != ""),
		)
		class, classErr := takeClass(results, q.Project, q.Class)
		facts.Class, err = class, errors.Join(err, classErr)
		facts.Granted = foreign && facts.Pool != nil
		if wide && err == nil {
			regions, err = ReadRows(results, pgx.RowTo[string])
		}
		return errors.Join(err, results.Close())
	})
	if err == nil && facts.Claim == nil && slices.ContainsFunc(regions, func(region string) bool { return region != r.region }) {
		found, there, failed := r.claimElsewhere(ctx, q.Project, q.Name)
		if there {
			facts.Claim = &found
		}
		return facts, failed
	}
	return facts, err
}

// readOptional reads a batch's next result into out. The result has at most one row. If it has none, out does not change. If asked is false, the
// batch has no such result, and the function does nothing.
func readOptional[T any](results pgx.BatchResults, scan pgx.RowToFunc[T], out **T, asked bool) error {
	if !asked {
		return nil
	}
	found, err := ReadRows(results, scan)
	if err == nil && len(found) > 0 {
		*out = &found[0]
	}
	return err
}
