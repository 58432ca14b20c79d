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
		Short: "Bring a database to the schema of this version, and to its regions",
		Long: `Applies the migrations that the database lacks, adds the regions that it lacks, and puts each table where it belongs. It may run
twice, and from several places at once: one works, the others wait. A server with an embedded database migrates it by itself.

--regions lists all regions of the database, the primary one first, in the order in which they were added; new ones come last.
Regions are only added here. --survive zone keeps writes in their region and loses a region's rows with the region; --survive region
needs three regions, and every write waits for another one. Without it the database stays as it is (a new one: zone).
PostgreSQL keeps everything in one place: it takes the names, and --survive means nothing to it.

At its end it makes three roles in the database, grants to each what it needs and takes back what is more: one for servers, which cannot change the
schema and can do no more than insert into and read the audit trail; one for 'ipamctl retention'; one for 'ipamctl audit' and reports. Users that log in
are yours to make; --server-user and its like give them their role. docs/database-roles.md says who needs what.`,
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
			o := schema.MigrateOptions{Regions: regions, Survive: survive, Roles: granted, Said: func(s string) { p.Remark("%s", s) }}
			defer p.Waiting("migrating")()
			if err := p.Migrate(ctx, dsn, o); err != nil {
				return offline(err)
			}
			p.Remark("the schema is up to date")
			return nil
		}),
	}
	t.add(cmd)
	cmd.Flags().StringVar(&region, "region", "", "the only `REGION` of this installation: short for --regions (env CARVE_REGION, default "+defaultRegion+")")
	cmd.Flags().StringSliceVar(&regions, "regions", nil, "all `REGIONS` of the database, the primary one first, new ones last")
	cmd.Flags().StringVar(&survive, "survive", "", "what the database is to survive the loss of, on CockroachDB: a `zone` or a region (default: as it is)")
	cmd.MarkFlagsMutuallyExclusive("region", "regions")
	asked.add(cmd)
	asked.addUsers(cmd)
	return cmd
}

// defaultRegion is the region of an installation with one region, as in the server's own flags.
const defaultRegion = "local"
