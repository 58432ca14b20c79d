package storage

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// MaxClasses limits the classes in a project. MaxClassPools limits the pools in one project that back one class. Both are read whole, and metrics
// carry the class name.
const (
	MaxClasses    = 256
	MaxClassPools = 256
)

// ClassReader reads classes and the pools that back them.
type ClassReader interface {
	ClassGet(ctx context.Context, project ProjectKey, name string) (ipam.Class, error)
	// ClassList returns all classes that a project may use, by name: its own, and the platform's shared ones. If two have the same name, the
	// project's own comes first.
	ClassList(ctx context.Context, project ProjectKey) ([]ipam.Class, error)
	// ClassesNamed returns the classes with these names that a pool of the project can list: its own, or else the platform's shared ones.
	ClassesNamed(ctx context.Context, project ProjectKey, names []string) ([]ipam.Class, error)
	// ClassDefault returns the default class of a family in one project.
	ClassDefault(ctx context.Context, project ProjectKey, family ipam.Family) (ipam.Class, error)
	// ClassPools returns the pools that list the class, in the class's project and in the caller's, by name and project. It leaves out labels,
	// annotations, reservations and descriptions, which may be large and decide nothing.
	ClassPools(ctx context.Context, class ipam.Class, caller ipam.ID) ([]ipam.Pool, error)
	// ClassUse counts the references to a class.
	ClassUse(ctx context.Context, class ipam.ID) (ClassUse, error)

	// ScopedPool returns the pool of one scope.
	ScopedPool(ctx context.Context, class, project ipam.ID, scope string) (ipam.Pool, error)
	// ScopedPoolsOf returns up to limit pools for a project's scopes in a class, ordered by scope text, after a scope text.
	ScopedPoolsOf(ctx context.Context, class, project ipam.ID, after string, limit int) ([]ipam.Pool, error)
	// ScopedPoolCount counts a class's scoped pools for one project, or for all projects (zero).
	ScopedPoolCount(ctx context.Context, class, project ipam.ID) (int64, error)
	// ScopedPoolList returns up to limit scoped pools ordered by id, after an id, each with its class's TTL and whether it holds anything.
	ScopedPoolList(ctx context.Context, after ipam.ID, limit int) ([]ScopedPool, error)
}

// ClassUse counts the references to a class.
type ClassUse struct {
	Pools  int64 // pools that list it
	Scoped int64 // pools carved for its scopes
	Claims int64
}

// ScopedPool is a scoped pool as the background job reads it.
type ScopedPool struct {
	Pool ipam.Pool
	TTL  *time.Duration // of its class
	Held bool
}

// ClassQuery is the part of a ClaimQuery that asks for a claim's class and the pools behind it.
type ClassQuery struct {
	Name   string      // "": the default class of the family
	Family ipam.Family // for defaults
	Known  bool        // the caller has cached the facts, and asks for the versions alone
}

// ClassFacts is the result of a ClassQuery. Found is the class that serves: the project's own before the platform's shared one, or nil. Pools are the
// pools that back it for the caller, as in ClassReader.ClassPools, also for a scoped class.
type ClassFacts struct {
	Epochs ClassEpochs // read at the same moment as the rest, or before
	Found  *ipam.Class
	Pools  []ipam.Pool
}

// ClassEpochs contains the versions of the project's and the platform's classes, with their pools. Each change to them replaces the version. Facts
// that were read at the current versions are current.
type ClassEpochs struct{ Own, Platform ipam.ID }

// ClassChanges contains the changes to classes. Updates run in their order: the class that stops being the default comes first.
type ClassChanges struct {
	ClassInsert *ipam.Class
	ClassUpdate []ClassUpdate
	ClassDelete *ipam.Class
	// ScopedMarks set the time since when scoped pools have been empty.
	ScopedMarks []ScopedMark
}

// ClassUpdate replaces the mutable fields in a class that still has revision Was.
type ClassUpdate struct {
	Was ipam.ID
	Now ipam.Class
}

// ScopedMark sets the time since when a scoped pool has been empty; zero means not empty.
type ScopedMark struct {
	PoolID   ipam.ID
	Was, Now time.Time
}
