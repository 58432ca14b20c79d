package write

import (
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/lookup"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Naming collects facts about the names of a transaction's new claims. A claim's name must be unique in all its project's regions. In the claim's own
// region, the table's unique key ensures this. For the other regions, a query looks for the name. A generated name needs no such query, because it
// contains a letter for its region.
type Naming struct {
	Placed map[ipam.ID][]string // for each project, the regions in which it may have claims
	claims []ipam.Claim
}

// nameKey is the unique key that a new claim violates if its name is in use. A claim can also violate every key, if an earlier attempt with the same
// ids has committed late. Then the engine chooses the key that it reports.
const nameKey = "holds_name_key"

var keysOfHolds = []string{nameKey, "holds_id_key", "holds_pkey"}

// NamesTaken is the error if at least one new claim's name is in use. The transaction was rolled back, and a later query must find the names in use.
type NamesTaken struct {
	Region  string
	Names   []storage.NameRef
	Besides storage.Conflict // conflicts that were found earlier
	cause   *pgconn.PgError
}

// ByName reports whether the database reported nameKey.
func (t *NamesTaken) ByName() bool { return t.cause.ConstraintName == nameKey }

// Error implements error.
func (t *NamesTaken) Error() string { return t.cause.Error() }

// Unwrap returns the database's error.
func (t *NamesTaken) Unwrap() error { return t.cause }

// KeysTaken is the error if at least one idempotency key already has a stored response, which may have expired. The transaction was rolled back, and
// a later query must find these keys.
type KeysTaken struct {
	StoredResponses []storage.StoredResponse
	cause           *pgconn.PgError
}

// Error implements error.
func (t *KeysTaken) Error() string { return t.cause.Error() }

// Unwrap returns the database's error.
func (t *KeysTaken) Unwrap() error { return t.cause }

// newNames extends the last statement's check. That statement inserts new claims. If a name is in use, the insert violates a unique key, and the
// check then returns NamesTaken. If two claims have the same name, the second one is a conflict.
func (w *Statements) newNames(region string, claims []*ipam.Claim) {
	var twice []storage.NameRef
	for i, c := range claims {
		if i > 0 && c.Name == claims[i-1].Name && c.ProjectID == claims[i-1].ProjectID {
			twice = append(twice, claimRef(*c))
		}
	}
	run := w.checks[len(w.checks)-1]
	w.checks[len(w.checks)-1] = func(results pgx.BatchResults, conflict *storage.Conflict) error {
		conflict.ClaimRefs = append(conflict.ClaimRefs, twice...)
		err := run(results, conflict)
		if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == UniqueViolation && slices.Contains(keysOfHolds, pg.ConstraintName) {
			taken := &NamesTaken{Region: region, cause: pg}
			for _, c := range claims {
				taken.Names = append(taken.Names, claimRef(*c))
			}
			return taken
		}
		return err
	}
}

// readRegions queues a query for the new claims' projects and their regions. A claim in a deleted project is a conflict.
func (w *Statements) readRegions(claims []ipam.Claim) {
	if len(claims) == 0 {
		return
	}
	project := func(c *ipam.Claim) ipam.ID { return c.ProjectID }
	ids := idsOf(claims, project)
	w.Naming = &Naming{claims: claims, Placed: make(map[ipam.ID][]string, len(ids))}
	w.queue("projects_placed", func(results pgx.BatchResults, c *storage.Conflict) error {
		var id ipam.ID
		var region *string
		if err := lookup.ForEach(results, []any{&id, &region}, func() {
			known := w.Naming.Placed[id]
			if region != nil {
				known = append(known, *region)
			}
			w.Naming.Placed[id] = known
		}); err != nil {
			return err
		}
		c.ClaimRefs = append(c.ClaimRefs, missingIDs(claims, project, func(id ipam.ID) bool {
			_, there := w.Naming.Placed[id]
			return there
		})...)
		return nil
	}, ids)
}

// Unplaced returns the projects that would get their first claim in a region, or nil.
func (n *Naming) Unplaced() (u *storage.RegionNotRecorded) {
	for i := range n.claims {
		c := &n.claims[i]
		if slices.Contains(n.Placed[c.ProjectID], c.Region) {
			continue
		}
		if u == nil {
			u = &storage.RegionNotRecorded{Region: c.Region}
		}
		if u.Region == c.Region && !slices.Contains(u.Projects, c.ProjectID) {
			u.Projects = append(u.Projects, c.ProjectID)
		}
	}
	return u
}

// Regions returns all regions in which any project may have claims.
func (n *Naming) Regions() (all []string) {
	for _, regions := range n.Placed {
		all = append(all, regions...)
	}
	return all
}

// Elsewhere returns the claims whose names must be looked up in other regions. If a name was generated in ownRegion, and the claim is in that region,
// the name needs no lookup, because it contains a letter for that region.
func (n *Naming) Elsewhere(ownRegion string) (ask []ipam.Claim) {
	for i := range n.claims {
		c := &n.claims[i]
		if c.GeneratedIn != 0 && c.Region == ownRegion {
			continue
		}
		regions := n.Placed[c.ProjectID]
		if len(regions) > 1 || len(regions) == 1 && regions[0] != c.Region {
			ask = append(ask, *c)
		}
	}
	return ask
}
