package usecase

import "github.com/carve-ipam/carve/internal/alloc/storage"

// Request contains the parameters that every changing call has.
type Request struct {
	Key         string   // Idempotency-Key; "": none
	Fingerprint [16]byte // hash of operation and request, a part of its SHA-256; set if Key is set
	DryRun      bool
	IfMatch     Match
	CreateOnly  bool // If-None-Match: * of a PUT
}

// StoresAnswer reports whether the answer is stored for repeats.
func (r Request) StoresAnswer() bool { return r.Key != "" && !r.DryRun }

// Reading contains the parameters that every reading call has.
type Reading struct {
	// Behind permits data that is some seconds old, and gets the time of the reads. nil requires the latest data. Access rights are never decided on
	// old data.
	Behind *storage.Moment
}

// Result is the value that a creating call returns.
type Result[T any] struct {
	Value    T
	Replayed bool // Value is the stored answer to an earlier request with the same key
	Existed  bool // create-or-return found the same object
}
