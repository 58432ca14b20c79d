package pools

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// CreateClass makes a class. One that is to be the default of its family is refused while another one is, unless moveDefault takes that
// from the other in the same transaction.
func (s *classes) CreateClass(ctx context.Context, project string, c ipam.Class, moveDefault bool, r usecase.Request) (usecase.Result[ipam.Class], error) {
	none := usecase.Result[ipam.Class]{}
	who, key, err := s.Enter(ctx, tenancy.ClassesWrite, project)
	if err != nil {
		return none, err
	}
	if err := usecase.CheckNew(&c.Metadata, checkClass(project, c.Spec)); err != nil {
		return none, err
	}
	c.Metadata = s.Fresh(c.Metadata, project, "", who)
	c.ProjectID = key.ID
	c.Status = ipam.ClassStatus{Total: "0", Available: "0"} // nothing lists it yet
	move := defaultMove{allowed: moveDefault, revision: ipam.NewID()}
	locks := storage.Locks{Alone: []ipam.ID{classesOf(key.ID)}, Shared: []ipam.ID{key.ID}}
	return usecase.Once(ctx, s.Core, key, r, &c.Metadata, func(ctx context.Context) (ipam.Class, error) {
		stored, err := usecase.Answers(key.ID, r, c.CreatedAt, c)
		if err != nil {
			return c, err
		}
		return outrun(func() (ipam.Class, error) {
			return usecase.Settled(ctx, s.Core, "class_create", locks, r.DryRun, func(ctx context.Context, tx storage.Tx) (ipam.Class, error) {
				return c, insertClass(ctx, tx, key, c, move, stored)
			}, func(ctx context.Context) (ipam.Class, bool, error) {
				got, found, err := storage.IgnoreNotFound(s.Store.ClassGet(ctx, key, c.Name))
				got.Status = c.Status
				return got, found && got.UID == c.UID, err
			})
		})
	})
}

// insertClass is one attempt of the transaction class_create.
func insertClass(ctx context.Context, tx storage.Tx, key storage.ProjectKey, c ipam.Class, move defaultMove, stored []storage.Answer) error {
	if err := usecase.StillThere(ctx, tx, key); err != nil {
		return err
	}
	if err := roomForClass(ctx, tx, key, c); err != nil {
		return err
	}
	ch, err := move.changes(ctx, tx, key, c)
	if err != nil {
		return err
	}
	event, err := trail.Changed(ctx, c.CreatedAt, key.ID, trail.KindClass, c.Name, nil, recordedClass(c))
	if err != nil {
		return err
	}
	ch.ClassInsert, ch.Answers, ch.Events = &c, stored, append(ch.Events, event)
	return tx.Write(ctx, ch)
}

// roomForClass refuses a class whose name means something else already, and one too many.
func roomForClass(ctx context.Context, tx storage.Tx, key storage.ProjectKey, c ipam.Class) error {
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
		return ipam.Invalid("/metadata/name", "would be one more than the %d classes that a project can have; delete one of them.", storage.MaxClasses)
	}
	return hidesNothing(ctx, tx, key, c.Name)
}

// hidesNothing refuses a name that pools of the project list and that means a class of the platform there, shared still or not: one name
// would come to mean two classes.
func hidesNothing(ctx context.Context, tx storage.Tx, key storage.ProjectKey, name string) error {
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
	n, err := backedBy(ctx, tx, hidden, key)
	if err != nil || n == 0 {
		return err
	}
	e := ipam.Errorf(ipam.CodeInUse, "Class %s is listed by %s of project %q as %q; a class of that name would hide it. Choose another name, or take it out of their classNames first.",
		hidden.Ref(), usecase.Counted(n, "pool"), key.Name, name)
	e.Figures.Pools, e.Figures.ConflictsWith = &n, []string{hidden.Ref().String()}
	return e.At("/metadata/name", "is what pools of the project call class %s.", hidden.Ref())
}

// backedBy counts the pools of a project that list a class.
func backedBy(ctx context.Context, read storage.Reader, class ipam.Class, key storage.ProjectKey) (int64, error) {
	pools, err := read.ClassPools(ctx, class, key.ID)
	n := int64(0)
	for _, p := range pools {
		if p.ProjectID == key.ID {
			n++
		}
	}
	return n, err
}
