package refusals

import "github.com/carve-ipam/carve/internal/alloc/usecase"

// Refusals explains why pools could not grant what was asked for.
type Refusals struct {
	*usecase.Core

	figures *Figures
}

// New makes the room.
func New(core *usecase.Core) *Refusals { return &Refusals{Core: core, figures: NewFigures(core.Ticks)} }

// CountAlways sets how many free blocks a pool has at most that are counted for every refusal.
func (s *Refusals) CountAlways(most int64) { s.figures.small = most }
