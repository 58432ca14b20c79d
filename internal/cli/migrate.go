package cli

import (
	"context"

	"github.com/spf13/cobra"
)

func (p *program) migrateCommand() *cobra.Command {
	var t target
	var region string
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Bring a database to the schema of this version",
		Long: `Applies the migrations that the database lacks. It may run twice, and from several places at once: one works, the others
wait. A server with an embedded database migrates it by itself.`,
		Example:           "  ipamctl migrate --database-url postgresql://carve@db.example.com:26257/carve --region eu-west1",
		Args:              names("", 0, 0),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: p.verb(func(ctx context.Context, _ []string) error {
			dsn, err := p.dsn(t)
			if err != nil {
				return err
			}
			if err := p.Database.Migrate(ctx, dsn, firstOf(region, p.env("CARVE_REGION"), defaultRegion)); err != nil {
				return offline(err)
			}
			p.remark("the schema is up to date")
			return nil
		}),
	}
	t.add(cmd)
	cmd.Flags().StringVar(&region, "region", "", "`REGION` that the rows of this installation live in (env CARVE_REGION, default "+defaultRegion+")")
	return cmd
}

// defaultRegion is the region of an installation that has but one, as in the server's own flags.
const defaultRegion = "local"
