package crdb

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/ipam"
)

// NamesThere implements alloc.Reader.
func (r reader) NamesThere(ctx context.Context, project alloc.ProjectKey, asked []alloc.Named) ([]alloc.Named, error) {
	var poolProjects, pools, spaceProjects, spaces, classes []string
	for _, n := range asked {
		switch n.What {
		case alloc.NamedPool:
			poolProjects, pools = append(poolProjects, n.Ref.Project), append(pools, n.Ref.Name)
		case alloc.NamedSpace:
			spaceProjects, spaces = append(spaceProjects, n.Ref.Project), append(spaces, n.Ref.Name)
		case alloc.NamedClass:
			classes = append(classes, n.Ref.Name)
		}
	}
	return list(ctx, r, "names_there", scanNamed, uuid(project.ID), project.Name, poolProjects, pools, spaceProjects, spaces, classes)
}

func scanNamed(row pgx.Row) (n alloc.Named, err error) {
	var ref ipam.Ref
	err = row.Scan(&n.What, &ref.Project, &ref.Name)
	n.Ref = ref
	return n, err
}
