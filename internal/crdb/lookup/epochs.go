package lookup

import (
	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// takeEpochs reads the class epochs of projects by project id. A class epoch is the version of all classes of a project. The zero id also maps to the
// epoch of the platform project.
func takeEpochs(results pgx.BatchResults) (epochs map[ipam.ID]ipam.ID, platform ipam.ID, err error) {
	answer, err := results.Query()
	if err != nil {
		return nil, platform, err
	}
	epochs = map[ipam.ID]ipam.ID{}
	var id ipam.ID
	var name string
	var epoch *[16]byte
	_, err = pgx.ForEachRow(answer, []any{(*[16]byte)(&id), &name, &epoch}, func() error {
		epochs[id] = rows.IDOf(epoch)
		if name == ipam.PlatformProject {
			platform = id
			epochs[ipam.ID{}] = rows.IDOf(epoch)
		}
		return nil
	})
	return epochs, platform, err
}
