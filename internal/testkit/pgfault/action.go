package pgfault

import "time"

// Answer is what the client is told about a statement.
type Answer uint8

const (
	// Truth passes the server's answer on.
	Truth Answer = iota
	// Error replaces it by an ErrorResponse with the action's Code. In the extended protocol the client's messages
	// up to Sync are skipped, as a server would.
	Error
	// Fatal replaces it by a FATAL ErrorResponse with the action's Code and ends the connection.
	Fatal
	// Nothing ends the connection without a word.
	Nothing
	// Empty answers no rows and "0 rows affected", and undoes what the statement did: see NoRows.
	Empty
)

// Cut says on which side of a statement a partition begins.
type Cut uint8

const (
	// NoCut leaves the network whole.
	NoCut Cut = iota
	// CutBefore begins it before the statement is sent.
	CutBefore
	// CutAfter begins it when the server has answered and the client has not been told.
	CutAfter
)

// Action is a fault in two answers: does the statement take effect, and what is the client told? The zero Action
// passes the statement and its answer through untouched. At Connect, any Drop with an answer other than Truth refuses
// the connection; at Prepare, only Delay and Hold count.
type Action struct {
	// Name is what the injection is counted under; without one it is not counted. It is not what makes an action.
	Name string
	// Drop keeps the statement from taking effect. With Error, COMMIT is replaced by ROLLBACK and any other
	// statement by one that fails, so that the server's transaction ends in the state the client is told of. With
	// Fatal and Nothing the server sees its client vanish, and the client is told when the server has given up.
	// With Truth it means nothing. Without Drop, Error fits only a statement that ends its transaction: elsewhere
	// the server would go on in a transaction that the client believes aborted.
	Drop   bool
	Answer Answer
	// Code is the SQLSTATE of Error and Fatal; Message its text.
	Code    string
	Message string
	// Delay is waited before the round trip that carries the statement; of several in one pipeline, the longest counts.
	Delay time.Duration
	// Hold keeps the statement back until the gate opens, even when its client has gone meanwhile.
	Hold *Gate
	Cut  Cut
}

// passive actions change when things happen, not what: they combine with a fault.
func (a Action) passive() bool { return a.Answer == Truth && a.Cut == NoCut }

// refuses says that the action ends the connection before the request is sent.
func (a Action) refuses() bool { return a.Drop && (a.Answer == Fatal || a.Answer == Nothing) }

// withholds says that the client does not get the server's answer.
func (a Action) withholds() bool {
	return a.Answer == Error || a.Answer == Fatal || a.Answer == Nothing
}
