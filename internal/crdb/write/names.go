package write

import (
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Naming collects the facts about a transaction's new names. A unique key keeps a name unique in its own region. In the project's other regions a
// query looks for the name, unless the name is generated: a generated name contains a letter for its region.
type Naming struct {
	claims  []ipam.Claim
	regions map[ipam.ID][]string // by project
}

// A new claim with a name in use violates the first key. If the claim's own first run committed late, the claim violates every key, and the engine
// chooses which one it reports.
const nameKey = "holds_name_key"

var keysOfHolds = []string{nameKey, "holds_id_key", "holds_pkey"}

// NamesTaken is the error if at least one new claim's name is in use. The transaction was rolled back, and a later query has to find the names.
type NamesTaken struct {
	Region  string
	Names   []storage.NameRef
	Besides storage.Conflict // conflicts found earlier
	cause   *pgconn.PgError
}

// ByName reports whether the database reported the name key.
func (t *NamesTaken) ByName() bool { return t.cause.ConstraintName == nameKey }

// Error implements error.
func (t *NamesTaken) Error() string { return t.cause.Error() }

// Unwrap returns the database's error.
func (t *NamesTaken) Unwrap() error { return t.cause }

// KeysTaken is the error if at least one idempotency key already has an answer, which may have expired. The transaction was rolled back, and a later
// query has to find the keys.
type KeysTaken struct {
	Answers []storage.Answer
	cause   *pgconn.PgError
}

// Error implements error.
func (t *KeysTaken) Error() string { return t.cause.Error() }

// Unwrap returns the database's error.
func (t *KeysTaken) Unwrap() error { return t.cause }

// newNames extends the last statement's check, for a statement that inserts new claims. It needs no query: holds has a unique key that detects names
// in use. If two claims have the same name, the second one is a conflict.
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

// placed queues a query for the new claims' projects and their regions. Claims in deleted projects are conflicts.
func (w *Statements) placed(claims []ipam.Claim) {
	if len(claims) == 0 {
		return
	}
	project := func(c *ipam.Claim) ipam.ID { return c.ProjectID }
	ids := idsOf(claims, project)
	w.naming = &Naming{claims: claims, regions: make(map[ipam.ID][]string, len(ids))}
	w.batch.Queue(query.Get("projects_placed"), rows.IDs(ids))
	w.checks = append(w.checks, func(results pgx.BatchResults, c *storage.Conflict) error {
		answer, err := results.Query()
		if err != nil {
			return err
		}
		var id ipam.ID
		var region *string
		if _, err = pgx.ForEachRow(answer, []any{(*[16]byte)(&id), &region}, func() error {
			known := w.naming.regions[id]
			if region != nil {
				known = append(known, *region)
			}
			w.naming.regions[id] = known
			return nil
		}); err != nil {
			return err
		}
		c.ClaimRefs = append(c.ClaimRefs, missingIDs(claims, project, func(id ipam.ID) bool {
			_, there := w.naming.regions[id]
			return there
		})...)
		return nil
	})
}

// Unplaced returns the projects for which a claim would be the first one in a region, or nil.
func (n *Naming) Unplaced() (u *storage.RegionNotRecorded) {
	for i := range n.claims {
		c := &n.claims[i]
		if slices.Contains(n.regions[c.ProjectID], c.Region) {
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

// Placed returns, for each project, the regions in which it may have claims.
func (n *Naming) Placed() map[ipam.ID][]string { return n.regions }

// Regions returns all regions in which the projects may have claims.
func (n *Naming) Regions() (all []string) {
	for _, regions := range n.regions {
		all = append(all, regions...)
	}
	return all
}

// Elsewhere returns the claims with names to look up in other regions. A generated name needs no lookup if it contains the letter of its claim's
// region.
func (n *Naming) Elsewhere(own string) (ask []ipam.Claim) {
	for i := range n.claims {
		c := &n.claims[i]
		if c.GeneratedIn != 0 && c.Region == own {
			continue
		}
		regions := n.regions[c.ProjectID]
		if len(regions) > 1 || len(regions) == 1 && regions[0] != c.Region {
			ask = append(ask, *c)
		}
	}
	return ask
}

// Naming returns the facts about the new names, or nil without new claims.
func (w *Statements) Naming() *Naming { return w.naming }
