package usecase

import "github.com/carve-ipam/carve/internal/alloc/storage"

// Request contains the parameters of every changing call.
type Request struct {
	Key         string   // Idempotency-Key; empty: none
	Fingerprint [16]byte // hash for the operation and the request, a part of its SHA-256; set if Key is set
	DryRun      bool
	IfMatch     Match
	CreateOnly  bool // the PUT has If-None-Match: *
}

// StoresResponse reports whether the server stores this request's response for repeats.
func (r Request) StoresResponse() bool { return r.Key != "" && !r.DryRun }

// Reading contains the parameters of every reading call.
type Reading struct {
	// Behind permits data that is some seconds old, and gets the time of the reads. If Behind is nil, the call needs the latest data. The server
	// never decides access rights from old data.
	Behind *storage.Moment
}

// Result is the result of a creating call.
type Result[T any] struct {
	Value    T
	Replayed bool // Value is the stored response to an earlier request with the same key
	Existed  bool // the call may return an existing object, and the same object existed already
}
