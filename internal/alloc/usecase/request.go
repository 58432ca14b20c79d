package usecase

import "github.com/carve-ipam/carve/internal/alloc/storage"

// Request is what every changing call carries besides its subject.
type Request struct {
	Key         string   // Idempotency-Key; "" = none
	Fingerprint [16]byte // of SHA-256 of operation and request; set when Key is
	DryRun      bool
	IfMatch     Match
	CreateOnly  bool // If-None-Match: * of a PUT
}

// StoresAnswer reports whether what is answered is stored for repeats.
func (r Request) StoresAnswer() bool { return r.Key != "" && !r.DryRun }

// Reading is what every call that reads carries besides its subject.
type Reading struct {
	// Behind: what is read may be some seconds old, and this is told when it was. nil: it is what was written last.
	// Who may read is never decided by what may be old.
	Behind *storage.Moment
}

// Result is the answer to a call that creates.
type Result[T any] struct {
	Value    T
	Replayed bool // the stored answer of an earlier request with the same key
	Existed  bool // create-or-return found the same thing
}
