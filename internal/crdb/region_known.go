package crdb

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/migrations"
)

// knownFile is the migration that notes in which region each project may have claims, for a database that has one region.
const knownFile = "0041_project_regions_known.sql"

// noteProjects takes that step again. A server of the version before, which works beside this one while it is brought into service, makes projects and
// claims and no note: once there is a second region, nobody would look for the names of those claims in the first.
func noteProjects(ctx context.Context, c *pgx.Conn) error {
	step, err := migrations.FS.ReadFile(knownFile)
	if err != nil {
		return err
	}
	if err := alter(ctx, c, string(step)); err != nil {
		return fmt.Errorf("cannot note where the projects' claims are (run the same command again when this is mended): %w", err)
	}
	return nil
}
