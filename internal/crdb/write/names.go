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

// Naming is what is found out about the names of a transaction's new claims. That a name is unique in its own region is its key's to say; in
// the other regions where the project may have claims it is looked for, unless it was generated: generated names carry a letter of their region.
type Naming struct {
	claims  []ipam.Claim
	regions map[ipam.ID][]string // by project
}

// A new claim whose name is in use breaks the first of these. One that meets its own first run, whose COMMIT landed late, breaks all of them: which one is
// told is the engine's to choose.
const nameKey = "holds_name_key"

var keysOfHolds = []string{nameKey, "holds_id_key", "holds_pkey"}

// NamesTaken says that of the names of some new claims one at least is in use. The transaction was rolled back; which ones are is for another to read.
type NamesTaken struct {
	Region  string
	Names   []storage.NameRef
	Besides storage.Conflict // what was found before
	cause   *pgconn.PgError
}

// ByName reports whether it was a name that the database met first.
func (t *NamesTaken) ByName() bool { return t.cause.ConstraintName == nameKey }

// Error implements error.
func (t *NamesTaken) Error() string { return t.cause.Error() }

// Unwrap is what the database said.
func (t *NamesTaken) Unwrap() error { return t.cause }

// KeysTaken says that of the idempotency keys of some answers one at least has an answer, which may have expired. The transaction was rolled back; which
// ones have is for another to read.
type KeysTaken struct {
	Answers []storage.Answer
	cause   *pgconn.PgError
}

// Error implements error.
func (t *KeysTaken) Error() string { return t.cause.Error() }

// Unwrap is what the database said.
func (t *KeysTaken) Unwrap() error { return t.cause }

// newNames makes the last statement one that writes new claims. Nothing is asked of the database for their names: a key of holds keeps them apart. Claims that
// have one name among themselves, of which the first would be written, are conflicts.
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

// placed queues the look for the projects of new claims, and for the regions in which those may have claims; claims of projects that are gone
// are conflicts.
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
		c.ClaimRefs = append(c.ClaimRefs, without(claims, project, func(id ipam.ID) bool {
			_, there := w.naming.regions[id]
			return there
		})...)
		return nil
	})
}

// Unplaced are the projects of which a claim would be the first one in a region; nil: there are none.
func (n *Naming) Unplaced() (u *storage.Unplaced) {
	for i := range n.claims {
		c := &n.claims[i]
		if slices.Contains(n.regions[c.ProjectID], c.Region) {
			continue
		}
		if u == nil {
			u = &storage.Unplaced{Region: c.Region}
		}
		if u.Region == c.Region && !slices.Contains(u.Projects, c.ProjectID) {
			u.Projects = append(u.Projects, c.ProjectID)
		}
	}
	return u
}

// Placed are the regions in which each project of the claims may have claims.
func (n *Naming) Placed() map[ipam.ID][]string { return n.regions }

// Regions are those in which the projects of the claims may have claims.
func (n *Naming) Regions() (all []string) {
	for _, regions := range n.regions {
		all = append(all, regions...)
	}
	return all
}

// Elsewhere is the claims whose names are to be looked for in other regions. A generated name is not, where it was stored in the region whose
// letter it carries.
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

// Naming is what was found out about the names of the new claims; nil: there are none.
func (w *Statements) Naming() *Naming { return w.naming }
