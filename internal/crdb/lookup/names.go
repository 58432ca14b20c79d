package lookup

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/storage"
)

// NamesThere implements storage.Reader.
func (r Reader) NamesThere(ctx context.Context, project storage.ProjectKey, asked []storage.Named) ([]storage.Named, error) {
	var poolProjects, pools, spaceProjects, spaces, classes []string
	for _, n := range asked {
		switch n.What {
		case storage.NamedPool:
			poolProjects, pools = append(poolProjects, n.Ref.Project), append(pools, n.Ref.Name)
		case storage.NamedSpace:
			spaceProjects, spaces = append(spaceProjects, n.Ref.Project), append(spaces, n.Ref.Name)
		case storage.NamedClass:
			classes = append(classes, n.Ref.Name)
		}
	}
	return List(ctx, r, "names_there", scanNamed, project.ID, project.Name, poolProjects, pools, spaceProjects, spaces, classes)
}

func scanNamed(row pgx.CollectableRow) (n storage.Named, err error) {
	err = row.Scan(&n.What, &n.Ref.Project, &n.Ref.Name)
	return n, err
}
