package schema

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/migrations"
)

// Queries about regions. They use SHOW statements, because CockroachDB documents their columns. CockroachDB discourages the use of crdb_internal,
// from which SHOW reads.
const (
	askDatabase = `SELECT current_database()`
	askRegions  = `SELECT region, "primary" FROM [SHOW REGIONS FROM DATABASE] ORDER BY region`
	askCluster  = `SELECT region FROM [SHOW REGIONS FROM CLUSTER] ORDER BY region`
	askGoal     = `SELECT survival_goal FROM [SHOW SURVIVAL GOAL FROM DATABASE]`
	askTables   = `SELECT table_name, locality FROM [SHOW TABLES] WHERE schema_name = 'public' AND type = 'table' ORDER BY table_name`
	askGateway  = `SELECT gateway_region()`
)

// Statements that change regions. They quote all names, because the names come from the deployment.
func setPrimaryRegion(database, region string) string {
	return "ALTER DATABASE " + name(database) + " SET PRIMARY REGION " + name(region)
}

func addRegion(database, region string) string {
	return "ALTER DATABASE " + name(database) + " ADD REGION IF NOT EXISTS " + name(region)
}

func surviveFailure(database, goal string) string {
	return "ALTER DATABASE " + name(database) + " SURVIVE " + strings.ToUpper(goal) + " FAILURE"
}

func setLocality(table string, l Locality) string {
	return "ALTER TABLE " + name(table) + " SET LOCALITY " + string(l)
}

func name(identifier string) string { return pgx.Identifier{identifier}.Sanitize() }

// minRegions is the number of regions that a database needs to survive the loss of one region. After the loss, a majority of the replicas must
// remain.
const minRegions = 3

func (cockroach) readRegions(ctx context.Context, c *pgx.Conn) (s regionState, err error) {
	if err := c.QueryRow(ctx, askDatabase).Scan(&s.database); err != nil {
		return s, err
	}
	var region string
	var primary bool
	if err := eachRow(ctx, c, askRegions, nil, []any{&region, &primary}, func() {
		s.there = append(s.there, region)
		if primary {
			s.primary = region
		}
	}); err != nil {
		return s, err
	}
	s.kept = s.there
	if s.primary != "" {
		s.order = []string{s.primary} // only the primary region is certain, because SHOW REGIONS sorts the regions by name and not by age
		if err := c.QueryRow(ctx, askGoal).Scan(&s.goal); err != nil {
			return s, err
		}
	}
	rows, err := c.Query(ctx, askCluster)
	if err != nil {
		return s, err
	}
	s.cluster, err = pgx.CollectRows(rows, pgx.RowTo[string])
	return s, err
}

// regionSteps makes the database multi-region and adds the missing regions. A multi-region database has the type crdb_internal_region.
func (cockroach) regionSteps(s regionState, o MigrateOptions) (steps []ddl, err error) {
	if s.primary != "" && s.primary != o.Regions[0] {
		return nil, fmt.Errorf("%w: the database's primary region is %q, and the list begins with %q; make that region the primary one again with %s, or remove it from the database",
			ErrRegion, s.primary, o.Regions[0], setPrimaryRegion(s.database, o.Regions[0]))
	}
	if o.Survive == SurviveRegion && len(o.Regions) < minRegions {
		return nil, fmt.Errorf("%w: to survive the loss of a region, a database needs at least %d regions, and the list has %d; add regions, or use --survive zone",
			ErrRegion, minRegions, len(o.Regions))
	}
	for i, region := range o.Regions {
		switch {
		case slices.Contains(s.there, region):
		case !slices.Contains(s.cluster, region):
			return nil, fmt.Errorf("%w: the cluster has no node in %q; start nodes there with --locality=region=%s. The cluster has nodes in %s",
				ErrRegion, region, region, quoted(s.cluster))
		case i == 0:
			steps = append(steps, ddl{setPrimaryRegion(s.database, region), "the database's primary region is " + region})
		default:
			steps = append(steps, ddl{addRegion(s.database, region), "the database has the region " + region})
		}
	}
	is := s.goal
	if is == "" {
		is = SurviveZone // CockroachDB's default when a database gets its first region
	}
	if o.Survive != "" && o.Survive != is {
		steps = append(steps, ddl{surviveFailure(s.database, o.Survive), "the database survives the loss of a " + o.Survive})
	}
	return steps, nil
}

// files returns the numbered migration files, with each new table's locality.
func (cockroach) files(regions int) fs.FS { return placedFiles{migrations.FS, regions} }

// localities returns the statements that move tables to their localities.
func (cockroach) localities(ctx context.Context, c *pgx.Conn, regions int) ([]ddl, error) {
	has := map[string]Locality{}
	var table string
	var locality *string
	if err := eachRow(ctx, c, askTables, nil, []any{&table, &locality}, func() {
		has[table] = ""
		if locality != nil {
			has[table] = Locality(*locality)
		}
	}); err != nil {
		return nil, err
	}
	return localitySteps(has, regions), nil
}

// gateway returns the region in which the connection's node is.
func (cockroach) gateway(ctx context.Context, c *pgx.Conn) (region string, err error) {
	err = c.QueryRow(ctx, askGateway).Scan(&region)
	return region, err
}
