package locks

import "slices"

// WorkKind is the kind of work for which a request locks a pool.
type WorkKind int

// These are the kinds of work under a pool's lock.
const (
	Short WorkKind = iota // a group of claims and releases, or a change to the pool
	Long                  // a batch, which holds the lock many times longer
	kinds
)

// waitQueue is the queue for one lock. Requests of one kind get the lock in arrival order. If requests of both kinds wait, the lock alternates
// between the kinds. So a single claim waits for at most one batch, and many single claims do not block a batch.
type waitQueue struct {
	busy    bool
	last    WorkKind // the kind of the last owner
	waiting [kinds][]*queuedRequest
}

type queuedRequest struct {
	kind    WorkKind
	granted chan struct{}
}

// enqueue requests the lock. If the lock is free, the request gets it at once. Otherwise it waits in the queue for its kind.
func (t *waitQueue) enqueue(kind WorkKind) *queuedRequest {
	mine := &queuedRequest{kind: kind, granted: make(chan struct{})}
	if t.busy {
		t.waiting[kind] = append(t.waiting[kind], mine)
		return mine
	}
	t.busy, t.last = true, kind
	close(mine.granted)
	return mine
}

// withdraw cancels a waiting request. If the request has already got the lock, withdraw returns false.
func (t *waitQueue) withdraw(mine *queuedRequest) bool {
	at := slices.Index(t.waiting[mine.kind], mine)
	if at < 0 {
		return false
	}
	t.waiting[mine.kind] = slices.Delete(t.waiting[mine.kind], at, at+1)
	return true
}

// pass gives the lock to the next request of the other kind. If there is none, it gives the lock to the next request of the same kind.
func (t *waitQueue) pass() {
	for _, kind := range [kinds]WorkKind{kinds - 1 - t.last, t.last} {
		if queue := t.waiting[kind]; len(queue) > 0 {
			next := queue[0]
			queue[0] = nil
			t.waiting[kind], t.last = queue[1:], kind
			close(next.granted)
			return
		}
	}
	t.busy = false
}
