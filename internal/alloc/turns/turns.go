package turns

import "slices"

// TurnKind is what a turn of a pool is wanted for.
type TurnKind int

// What there is to be done in a turn.
const (
	Short TurnKind = iota // a group of claims and releases, a change of the pool
	Long                  // a batch, which holds the pool many times as long
	kinds
)

// turns says who works on a pool next. Those who want the same kind are served as they came. Between the two kinds the turn goes back and forth:
// whoever claims one block waits for one batch at most, however many batches wait, and no stream of single claims keeps batches out.
type turns struct {
	busy    bool
	last    TurnKind // had the turn last
	waiting [kinds][]*turn
}

// turn is one that somebody waits for.
type turn struct {
	kind TurnKind
	come chan struct{}
}

// ask waits in the queue of a kind, or takes the turn at once when nobody has it.
func (t *turns) ask(kind TurnKind) *turn {
	mine := &turn{kind: kind, come: make(chan struct{})}
	if t.busy {
		t.waiting[kind] = append(t.waiting[kind], mine)
		return mine
	}
	t.busy, t.last = true, kind
	close(mine.come)
	return mine
}

// withdraw takes back who waits; false when the turn has come meanwhile.
func (t *turns) withdraw(mine *turn) bool {
	at := slices.Index(t.waiting[mine.kind], mine)
	if at < 0 {
		return false
	}
	t.waiting[mine.kind] = slices.Delete(t.waiting[mine.kind], at, at+1)
	return true
}

// pass gives the turn to the other kind, if anybody of that waits, or else to the next of the same.
func (t *turns) pass() {
	for _, kind := range [kinds]TurnKind{kinds - 1 - t.last, t.last} {
		if queue := t.waiting[kind]; len(queue) > 0 {
			next := queue[0]
			queue[0] = nil
			t.waiting[kind], t.last = queue[1:], kind
			close(next.come)
			return
		}
	}
	t.busy = false
}
