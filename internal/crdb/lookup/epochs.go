package lookup

import (
	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/ipam"
)

// takeEpochs reads class epochs by project id. A class epoch is the version of all classes in a project. The zero id also maps to the platform
// project's epoch.
func takeEpochs(results pgx.BatchResults) (epochs map[ipam.ID]ipam.ID, platform ipam.ID, err error) {
	epochs = map[ipam.ID]ipam.ID{}
	var id ipam.ID
	var name string
	var epoch ipam.ID
	err = ForEach(results, []any{&id, &name, &epoch}, func() {
		epochs[id] = epoch
		if name == ipam.PlatformProject {
			platform = id
			epochs[ipam.ID{}] = epoch
		}
	})
	return epochs, platform, err
}
