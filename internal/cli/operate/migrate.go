package operate

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/crdb/schema"
)

func (p *Operator) migrateCommand() *cobra.Command {
	var t target
	var region, survive string
	var regions []string
	var asked roleFlags
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Update a database to the schema of this version, and add its regions",
		Long: `Applies missing migrations, adds missing regions, and sets the locality of each table. It is safe to run twice, and from several
machines at once: one works, and the others wait. A server with an embedded database migrates it by itself.

--regions lists all regions of the database: the primary region first, the others in the order of their addition, new ones last.
This command never removes regions. With --survive zone, writes stay in their region, and the loss of a region loses its rows.
--survive region needs three regions, and every write waits for another region. Without --survive the database stays as it is (a
new one gets zone). PostgreSQL has one location: it stores the names of regions and ignores --survive.

At the end it creates three roles in the database, grants their privileges and revokes others. The role for servers cannot change the
schema, and can only insert into and read the audit trail. The other roles are for 'ipamctl retention', and for 'ipamctl audit' and
reports. Create the login users yourself; --server-user, --retention-user and --reader-user grant them a role. docs/database-roles.md
lists the privileges.`,
		Example: `  ipamctl migrate --database-url postgresql://carve@db.example.com:26257/carve --region eu-west1
  ipamctl migrate --database-url postgresql://carve@db.example.com:26257/carve --regions eu-west1,us-east1,us-west1 --survive zone
  ipamctl migrate --database-url postgresql://carve_owner@db.example.com:26257/carve --region eu-west1 --server-user carve_app --retention-user carve_cron`,
		RunE: p.Verb(func(ctx context.Context, _ []string) error {
			granted, err := asked.options()
			if err != nil {
				return err
			}
			dsn, err := p.dsn(t)
			if err != nil {
				return err
			}
			if len(regions) == 0 {
				regions = []string{show.FirstOf(region, p.Env("CARVE_REGION"), defaultRegion)}
			}
			o := schema.MigrateOptions{Regions: regions, Survive: survive, Roles: granted, Report: func(s string) { p.Remark("%s", s) }}
			defer p.Waiting("migrating")()
			if err := p.Migrate(ctx, dsn, o); err != nil {
				return offline(err)
			}
			p.Remark("the schema is up to date")
			return nil
		}),
	}
	t.add(cmd)
	cmd.Flags().StringVar(&region, "region", "", "the only `REGION` of this installation, instead of --regions (env CARVE_REGION, default "+defaultRegion+")")
	cmd.Flags().StringSliceVar(&regions, "regions", nil, "all `REGIONS` of the database, the primary region first, new ones last")
	cmd.Flags().StringVar(&survive, "survive", "", "on CockroachDB: failure that the database survives, the loss of a `zone` or of a region (default: unchanged)")
	cmd.MarkFlagsMutuallyExclusive("region", "regions")
	asked.add(cmd)
	asked.addUsers(cmd)
	return cmd
}

// defaultRegion is the region if the installation has only one. The server's flags have the same default.
const defaultRegion = "local"
