package storage

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// MaxClasses limits the classes in a project. MaxClassPools limits the pools in one project that list one class. Both lists are read as a whole, so
// they must stay short. Metrics have the class name as a label, so each class costs memory too.
const (
	MaxClasses    = 256
	MaxClassPools = 256
)

// ClassReader reads classes and the pools that list them.
type ClassReader interface {
	ClassGet(ctx context.Context, project ProjectKey, name string) (ipam.Class, error)
	// ClassList returns all classes that a project may use, in name order: its own classes, and the platform's shared classes. If two classes have
	// the same name, the project's own class comes first.
	ClassList(ctx context.Context, project ProjectKey) ([]ipam.Class, error)
	// ClassesNamed returns the classes with these names that the project's pools can list. For each name, it returns the project's own class or else
	// the platform's shared class.
	ClassesNamed(ctx context.Context, project ProjectKey, names []string) ([]ipam.Class, error)
	// ClassDefault returns a project's default class for an address family.
	ClassDefault(ctx context.Context, project ProjectKey, family ipam.Family) (ipam.Class, error)
	// ClassPools returns the pools that list the class, in the class's project and in the caller's project. They are in the order of name and
	// project. The pools have no labels, annotations, reservations and descriptions. These fields may be large, and no decision needs them.
	ClassPools(ctx context.Context, class ipam.Class, caller ipam.ID) ([]ipam.Pool, error)
	// ClassUse counts the references to a class.
	ClassUse(ctx context.Context, class ipam.ID) (ClassUse, error)

	// ScopedPool returns the pool that was carved for one scope.
	ScopedPool(ctx context.Context, class, project ipam.ID, scope string) (ipam.Pool, error)
	// ScopedPoolsOf returns up to limit pools for a project's scopes in a class. They are in the order of the scope texts, after a text.
	ScopedPoolsOf(ctx context.Context, class, project ipam.ID, after string, limit int) ([]ipam.Pool, error)
	// ScopedPoolCount counts a class's scope pools for one project. If project is zero, it counts them for all projects.
	ScopedPoolCount(ctx context.Context, class, project ipam.ID) (int64, error)
	// ScopedPoolList returns up to limit scope pools in id order, after an id. Each entry contains the class's TTL, and whether the pool contains any
	// allocation.
	ScopedPoolList(ctx context.Context, after ipam.ID, limit int) ([]ScopedPool, error)
}

// ClassUse counts the references to a class.
type ClassUse struct {
	Pools  int64 // pools that list the class
	Scoped int64 // pools carved for the class's scopes
	Claims int64
}

// ScopedPool is a scope's pool as the background job reads it.
type ScopedPool struct {
	Pool ipam.Pool
	TTL  *time.Duration // the TTL from the pool's class
	Held bool
}

// ClassQuery is the part of a ClaimQuery that requests a class and its pools.
type ClassQuery struct {
	Name   string      // empty: the family's default class
	Family ipam.Family // the family for the search for a default class
	Known  bool        // the caller has cached the facts, and needs only the versions
}

// ClassFacts is the result of a ClassQuery. Found is the class with the name: the project's own class, else the platform's shared class, else nil.
// Pools contains the pools that ClassReader.ClassPools returns for the caller, also for a class with scopes.
type ClassFacts struct {
	Epochs ClassEpochs // read at the same moment as the other facts, or before
	Found  *ipam.Class
	Pools  []ipam.Pool
}

// ClassEpochs contains two versions. One is for the project's classes and their pools, the other for the platform's classes. Each change to a class
// or its pools replaces the version. So cached facts are current if their versions are current.
type ClassEpochs struct{ Own, Platform ipam.ID }

// ClassChanges contains the changes to classes. The updates run in the given order. If the default class changes, the old default's update comes
// first.
type ClassChanges struct {
	ClassInsert *ipam.Class
	ClassUpdate []ClassUpdate
	ClassDelete *ipam.Class
	// ScopedMarks sets the time since which scope pools have been empty.
	ScopedMarks []ScopedMark
}

// ClassUpdate replaces the mutable fields in a class that still has revision Was.
type ClassUpdate struct {
	Was ipam.ID
	Now ipam.Class
}

// ScopedMark sets the time since which a scope's pool has been empty. Zero means that the pool is not empty.
type ScopedMark struct {
	PoolID   ipam.ID
	Was, Now time.Time
}
