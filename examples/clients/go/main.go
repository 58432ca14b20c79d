// Quick start: a project, a pool, a block of it, and what a full pool says.
package main

import (
	"cmp"
	"context"
	"fmt"
	"os"

	"github.com/carve-ipam/carve/client"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	var opts []client.Option
	if key := os.Getenv("CARVE_API_KEY"); key != "" { // a server with --auth=dev needs none
		opts = append(opts, client.WithAPIKey(key))
	}
	carve, err := client.New(cmp.Or(os.Getenv("CARVE_SERVER"), "http://127.0.0.1:8080"), opts...)
	if err != nil {
		return err
	}

	project, err := carve.CreateProject(ctx, client.ProjectCreate{
		Metadata: client.CreateMetadata{GenerateName: "quickstart-"},
	})
	if err != nil {
		return err
	}
	team := project.Metadata.Name
	if _, err := carve.CreatePool(ctx, team, client.IPPoolCreate{
		Metadata: client.CreateMetadata{Name: "prod"},
		Spec:     client.IPPoolSpec{CIDR: "10.20.0.0/23"},
	}); err != nil {
		return err
	}

	// A lost connection, a restart or a full queue on the way is repeated: there is one block for each name.
	spec := client.IPClaimSpec{PoolRef: &client.Ref{Name: "prod"}, PrefixLength: 24}
	for _, name := range []string{"web", "db", "cache"} {
		block, err := carve.Claim(ctx, team, name, spec)
		if client.IsExhausted(err) {
			problem, _ := client.AsProblem(err)
			fmt.Printf("%s: %s\n", name, problem.Code)
			continue
		}
		if err != nil {
			return err
		}
		fmt.Printf("%s: %s\n", name, block)
	}

	for claim, err := range carve.Claims(ctx, team) {
		if err != nil {
			return err
		}
		if err := carve.Release(ctx, team, claim.Metadata.Name); err != nil {
			return err
		}
		fmt.Printf("%s: released %s\n", claim.Metadata.Name, claim.Status.AllocatedCIDR)
	}
	return nil
}
