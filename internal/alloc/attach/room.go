package attach

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// CheckLimit refuses new consumers if the project has reached its limit for consumers. pointer is the JSON pointer to the consumers in the request.
// While the project is below the limit, CheckLimit reads nothing.
func CheckLimit(ctx context.Context, s *usecase.Core, projectID ipam.ID, pointer string, wanted ...ipam.NewConsumer) error {
	if len(wanted) == 0 || !s.ConsumerLimits.Reached(projectID) {
		return nil
	}
	var there Users
	if err := there.Read(ctx, s.Store, projectID, wanted); err != nil {
		return err
	}
	for _, n := range wanted {
		if _, known := there.read[key{projectID, n.Ref}]; !known {
			return usecase.Full("The project", "consumer", storage.MaxConsumers, "Use an existing consumer, or wait until the server deletes ended consumers.").
				At(pointer, "would add consumer %s.", n.Ref)
		}
	}
	return nil
}
