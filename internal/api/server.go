package api

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/api/gen"
)

// server implements the operations of the contract, one method each: translate, call one use case, translate back. Every
// failure is returned, never answered.
type server struct {
	use     UseCases
	clock   func() time.Time
	version Version
	ready   func(ctx context.Context) error
}

var _ gen.StrictServerInterface = (*server)(nil)

// defaultLimit is the `limit` of lists in the contract.
const defaultLimit = 100

// marked is the value of a header that is sent when it says something: true, or not at all.
func marked(yes bool) *bool {
	if !yes {
		return nil
	}
	return &yes
}
