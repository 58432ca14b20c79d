package storage

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// MaxClasses is how many classes a project can have, and MaxClassPools how many of its pools can back one class: both are read
// whole, and metrics carry a class's name.
const (
	MaxClasses    = 256
	MaxClassPools = 256
)

// ClassReader reads classes and what stands behind them.
type ClassReader interface {
	ClassGet(ctx context.Context, project ProjectKey, name string) (ipam.Class, error)
	// ClassList answers all classes that a project may use, by name: its own, and the shared ones of the platform. Of two with
	// the same name its own comes first.
	ClassList(ctx context.Context, project ProjectKey) ([]ipam.Class, error)
	// ClassesNamed answers the classes of the names that a pool of the project can list: its own, or else the platform's shared ones.
	ClassesNamed(ctx context.Context, project ProjectKey, names []string) ([]ipam.Class, error)
	// ClassDefault answers the default class of a family in one project.
	ClassDefault(ctx context.Context, project ProjectKey, family ipam.Family) (ipam.Class, error)
	// ClassPools answers the pools that list the class, of the class's own project and of the caller's, by name and project: without
	// their labels, annotations, reservations and descriptions, which may be large and decide nothing.
	ClassPools(ctx context.Context, class ipam.Class, caller ipam.ID) ([]ipam.Pool, error)
	// ClassUse counts what names a class.
	ClassUse(ctx context.Context, class ipam.ID) (ClassUse, error)

	// ScopedPool finds the pool of one scope.
	ScopedPool(ctx context.Context, class, project ipam.ID, scope string) (ipam.Pool, error)
	// ScopedPoolsOf answers up to limit pools of a project's scopes of a class, after the text of a scope, in order of that.
	ScopedPoolsOf(ctx context.Context, class, project ipam.ID, after string, limit int) ([]ipam.Pool, error)
	// ScopedPoolCount counts a class's scoped pools: of one project, or of all (zero).
	ScopedPoolCount(ctx context.Context, class, project ipam.ID) (int64, error)
	// ScopedPoolList answers up to limit scoped pools after a pool's id, in order of id, each with the TTL of its class, and whether
	// anything is held in it.
	ScopedPoolList(ctx context.Context, after ipam.ID, limit int) ([]ScopedPool, error)
}

// ClassUse is what names a class.
type ClassUse struct {
	Pools  int64 // pools that list it
	Scoped int64 // pools carved for its scopes
	Claims int64
}

// ScopedPool is a scoped pool as the background job sees it.
type ScopedPool struct {
	Pool ipam.Pool
	TTL  *time.Duration // of its class
	Held bool
}

// ClassQuery asks, as a part of a ClaimQuery, for the class of a claim with the pools behind it.
type ClassQuery struct {
	Name   string      // "": the default class of the family
	Family ipam.Family // for defaults
	Known  bool        // the caller remembers the answer, and asks for the epochs alone
}

// ClassFacts answers a ClassQuery. Found is the class that serves: the project's own before the platform's shared one; nil: there
// is none. Pools are those that back it for the caller, as ClassReader.ClassPools answers them; of a scoped class, too.
type ClassFacts struct {
	Epochs ClassEpochs // of a moment not later than that of the rest
	Found  *ipam.Class
	Pools  []ipam.Pool
}

// ClassEpochs says, for a project and the platform, at which state of their classes, and of the pools behind those, something was read:
// each change of them makes the project's another one. What was read at the same epochs is what would be read now.
type ClassEpochs struct{ Own, Platform ipam.ID }

// ClassChanges is the part of Changes about classes. Updates happen in their order: the one that stops being the default first.
type ClassChanges struct {
	ClassInsert *ipam.Class
	ClassUpdate []ClassUpdate
	ClassDelete *ipam.Class
	// ScopedMarks set since when scoped pools have been empty.
	ScopedMarks []ScopedMark
}

// ClassUpdate replaces what can change of a class that still has revision Was.
type ClassUpdate struct {
	Was ipam.ID
	Now ipam.Class
}

// ScopedMark sets since when a scoped pool has been empty (zero: it is not).
type ScopedMark struct {
	PoolID   ipam.ID
	Was, Now time.Time
}
