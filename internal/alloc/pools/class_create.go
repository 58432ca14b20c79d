package pools

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/kind"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// ownKind describes a project's own classes for the shared code in package kind.
func (s *classes) ownKind() kind.Kind[ipam.Class] {
	return kind.Kind[ipam.Class]{
		Core: s.Core, Name: trail.KindClass, Op: "class",
		Head: func(c *ipam.Class) *ipam.Metadata { return &c.Metadata },
		Find: func(read storage.Reader) kind.Finder[ipam.Class] {
			return func(ctx context.Context, in storage.ProjectKey, name string) (ipam.Class, error) {
				return ownClass(ctx, read, in, name)
			}
		},
		Write: func(ch *storage.Changes, was, now *ipam.Class) {
			switch {
			case was == nil:
				ch.ClassInsert = now
			case now == nil:
				ch.ClassDelete = was
			default:
				ch.ClassUpdate = append(ch.ClassUpdate, storage.ClassUpdate{Was: was.Revision, Now: *now})
			}
		},
		Record:   recordedClass,
		Check:    func(in storage.ProjectKey, c ipam.Class) error { return checkClass(in.Name, c.Spec) },
		SameSpec: func(a, b ipam.Class) bool { return a.Spec.Equal(b.Spec) },
		Complete: withClassStatus,
	}
}

// CreateClass creates a class. It refuses a new default class if the family already has a default. With moveDefault, it makes the new class the
// default instead, and changes the old default class in the same transaction.
func (s *classes) CreateClass(ctx context.Context, project string, c ipam.Class, moveDefault bool, r usecase.Request) (usecase.Result[ipam.Class], error) {
	none := usecase.Result[ipam.Class]{}
	who, key, err := s.Enter(ctx, tenancy.ClassesWrite, project)
	if err != nil {
		return none, err
	}
	if err := usecase.CheckNew(&c.Metadata, checkClass(project, c.Spec)); err != nil {
		return none, err
	}
	c.Metadata = s.NewMetadata(c.Metadata, project, "", who)
	c.ProjectID = key.ID
	c.Status = ipam.ClassStatus{Total: "0", Available: "0"} // no pool lists the class yet
	move := defaultMove{allowed: moveDefault, revision: ipam.NewID()}
	locks := storage.Locks{Exclusive: []ipam.ID{classLock(key.ID)}, Shared: []ipam.ID{key.ID}}
	made, err := retryLostRace(func() (usecase.Result[ipam.Class], error) {
		return s.ownKind().Create(ctx, key, c, r, locks, func(ctx context.Context, tx storage.Tx, _, now *ipam.Class) (storage.Changes, error) {
			if err := usecase.CheckProjectExists(ctx, tx, key); err != nil {
				return storage.Changes{}, err
			}
			if err := checkNewClass(ctx, tx, key, *now); err != nil {
				return storage.Changes{}, err
			}
			return move.changes(ctx, tx, key, *now)
		})
	})
	made.Value.Status = c.Status // the row has no status
	return made, err
}

// checkNewClass refuses a class if its name is in use, or if the project already has storage.MaxClasses classes.
func checkNewClass(ctx context.Context, tx storage.Tx, key storage.ProjectKey, c ipam.Class) error {
	list, err := tx.ClassList(ctx, key)
	if err != nil {
		return err
	}
	own := 0
	for _, other := range list {
		if other.ProjectID != key.ID {
			continue
		}
		own++
		if other.Name == c.Name {
			return ipam.Errorf(ipam.CodeAlreadyExists, "A class of this name exists already in the project.").
				At("/metadata/name", "is taken; choose another name.")
		}
	}
	if own >= storage.MaxClasses {
		return usecase.ProjectFull(key.Name, "class", storage.MaxClasses, "Delete one first.")
	}
	return refuseShadowingName(ctx, tx, key, c.Name)
}

// refuseShadowingName refuses a new class if the project's pools already list a platform class with the same name. It does so even if the platform
// class is no longer shared. Otherwise one name would refer to two classes.
func refuseShadowingName(ctx context.Context, tx storage.Tx, key storage.ProjectKey, name string) error {
	if key.Name == ipam.PlatformProject {
		return nil
	}
	platform, err := tx.ProjectGet(ctx, ipam.PlatformProject)
	if err != nil {
		return err
	}
	hidden, found, err := storage.IgnoreNotFound(tx.ClassGet(ctx, storage.Key(platform), name))
	if err != nil || !found {
		return err
	}
	n, err := countListingPools(ctx, tx, hidden, key)
	if err != nil || n == 0 {
		return err
	}
	e := ipam.Errorf(ipam.CodeInUse, "Class %s is listed by %s of project %q as %q; a new class of that name would hide it. Choose another name, or remove the name from their classNames first.",
		hidden.Ref(), usecase.CountOf(n, "pool"), key.Name, name)
	e.Figures.Pools, e.Figures.ConflictsWith = &n, []string{hidden.Ref().String()}
	return e.At("/metadata/name", "is the name by which pools of the project list class %s.", hidden.Ref())
}

func countListingPools(ctx context.Context, read storage.Reader, class ipam.Class, key storage.ProjectKey) (int64, error) {
	pools, err := read.ClassPools(ctx, class, key.ID)
	n := int64(0)
	for _, p := range pools {
		if p.ProjectID == key.ID {
			n++
		}
	}
	return n, err
}
