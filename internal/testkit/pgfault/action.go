package pgfault

import "time"

// Answer is the kind of response that the client sees for a statement.
type Answer uint8

const (
	// Truth passes the server's response on.
	Truth Answer = iota
	// Error replaces the response with an ErrorResponse that has the action's Code. In the extended protocol, the proxy then skips the client's
	// messages up to Sync, like a server.
	Error
	// Fatal replaces the response with a FATAL ErrorResponse that has the action's Code, and ends the connection.
	Fatal
	// Nothing ends the connection without a response.
	Nothing
	// Empty returns no rows and "0 rows affected", and undoes the statement's effect. See NoRows.
	Empty
)

// Cut defines whether a partition begins before or after a statement.
type Cut uint8

const (
	// NoCut leaves the network whole.
	NoCut Cut = iota
	// CutBefore begins the partition before the proxy sends the statement.
	CutBefore
	// CutAfter begins the partition after the server's response, but before the client sees that response.
	CutAfter
)

// Action describes a fault. It defines whether the statement takes effect, and which response the client sees. The zero Action passes the statement
// and its response unchanged. At Connect, Drop with an Answer other than Truth refuses the connection. At Prepare, only Delay and Hold apply.
type Action struct {
	// Name is the name under which the proxy counts the injection. If it is empty, the proxy does not count it. A name alone injects nothing.
	Name string
	// Drop keeps the statement from taking effect. Its meaning depends on Answer:
	//   - With Error, the proxy replaces COMMIT by ROLLBACK, and any other statement by one that fails. The server's transaction then has the state
	//     that the client sees.
	//   - With Fatal and Nothing, the server sees a lost client. The client sees its response when the server has rolled back.
	//   - With Truth, Drop has no effect.
	//
	// Without Drop, use Error only for a statement that ends its transaction. Elsewhere the server would continue a transaction that the client
	// believes aborted.
	Drop   bool
	Answer Answer
	// Code is the SQLSTATE of Error and Fatal. Message is the error's text.
	Code    string
	Message string
	// Delay is the wait before the round trip with the statement. In a pipeline, the longest delay applies.
	Delay time.Duration
	// Hold delays the statement until the gate opens, even if its client disconnects before that.
	Hold *Gate
	Cut  Cut
}

// passive reports whether the action changes only the timing, so that a fault can follow it.
func (a Action) passive() bool { return a.Answer == Truth && a.Cut == NoCut }

// refuses reports whether the action ends the connection before the request is sent.
func (a Action) refuses() bool { return a.Drop && (a.Answer == Fatal || a.Answer == Nothing) }

// withholds reports whether the client does not get the server's response.
func (a Action) withholds() bool {
	return a.Answer == Error || a.Answer == Fatal || a.Answer == Nothing
}
