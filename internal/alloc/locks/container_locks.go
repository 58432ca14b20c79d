package locks

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// ContainerLocks contains a lock for each container in this process. A container is a pool in a region, or an address family in a space. At most one
// transaction in this process works on a container at a time. Without these locks, this process's transactions would conflict with each other and
// retry. The database handles conflicts between processes.
type ContainerLocks struct {
	mu   sync.Mutex
	open map[ipam.ID]*containerLock
}

// containerLock is one container's lock. It exists while a request has the lock or waits for it.
type containerLock struct {
	users int       // protected by ContainerLocks.mu
	queue waitQueue // protected by ContainerLocks.mu
}

// NewContainerLocks creates ContainerLocks without any lock.
func NewContainerLocks() *ContainerLocks { return &ContainerLocks{open: map[ipam.ID]*containerLock{}} }

// Users counts the requests that have a container's lock or wait for it.
func (l *ContainerLocks) Users(id ipam.ID) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ln := l.open[id]; ln != nil {
		return ln.users
	}
	return 0
}

// Locked counts the locked containers.
func (l *ContainerLocks) Locked() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open)
}

func (l *ContainerLocks) forget(id ipam.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ln := l.open[id]
	if ln.users--; ln.users == 0 {
		delete(l.open, id)
	}
}

// Acquire locks all containers in id order, and returns the function that unlocks them. It fails only if ctx ends.
func (l *ContainerLocks) Acquire(ctx context.Context, ids ...ipam.ID) (release func(), err error) {
	return l.AcquireFor(ctx, Short, ids...)
}

// AcquireFor is Acquire with a choice of the kind of work. If requests of both kinds wait for a lock, the lock alternates between the kinds.
func (l *ContainerLocks) AcquireFor(ctx context.Context, kind WorkKind, ids ...ipam.ID) (release func(), err error) {
	ids = slices.Clone(ids)
	slices.SortFunc(ids, func(a, b ipam.ID) int { return bytes.Compare(a[:], b[:]) })
	ids = slices.Compact(ids)
	var held []func()
	release = func() {
		for _, give := range slices.Backward(held) {
			give()
		}
	}
	for _, id := range ids {
		if !l.lock(ctx, id, kind) {
			release()
			return nil, storage.LockTimeout(ctx)
		}
		held = append(held, func() { l.unlock(id) })
	}
	return release, nil
}

// Try locks a container if it is unlocked.
func (l *ContainerLocks) Try(id ipam.ID) (release func(), ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[id] != nil {
		return nil, false
	}
	ln := &containerLock{users: 1}
	ln.queue.enqueue(Short)
	l.open[id] = ln
	return func() { l.unlock(id) }, true
}

// lock waits for a container's lock. It returns false if ctx ends first.
func (l *ContainerLocks) lock(ctx context.Context, id ipam.ID, kind WorkKind) bool {
	l.mu.Lock()
	ln := l.open[id]
	if ln == nil {
		ln = &containerLock{}
		l.open[id] = ln
	}
	ln.users++
	mine := ln.queue.enqueue(kind)
	l.mu.Unlock()
	select {
	case <-mine.granted:
		return true
	case <-ctx.Done():
	}
	l.mu.Lock()
	gone := ln.queue.withdraw(mine)
	l.mu.Unlock()
	if !gone { // the request has just got the lock
		l.unlock(id)
		return false
	}
	l.forget(id)
	return false
}

// unlock gives a container's lock to the next request.
func (l *ContainerLocks) unlock(id ipam.ID) {
	l.mu.Lock()
	l.open[id].queue.pass()
	l.mu.Unlock()
	l.forget(id)
}
