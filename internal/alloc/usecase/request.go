package usecase

// Request is what every changing call carries besides its subject.
type Request struct {
	Key         string   // Idempotency-Key; "" = none
	Fingerprint [32]byte // SHA-256 of operation and request; set when Key is
	DryRun      bool
	IfMatch     Match
	CreateOnly  bool // If-None-Match: * of a PUT
}

// Result is the answer to a call that creates.
type Result[T any] struct {
	Value    T
	Replayed bool // the stored answer of an earlier request with the same key
	Existed  bool // create-or-return found the same thing
}
