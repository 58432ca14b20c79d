package logspike

import (
	"fmt"
	"net/netip"

	"github.com/google/uuid"
)

// ID identifies a pool, a project or a group.
type ID = uuid.UUID

// Request is one request of a client. It changes one pool, and all of it is done or nothing.
type Request struct {
	Project ID
	Pool    ID      // of the claims
	Claims  []Claim // to make
	Release string  // name of the claim to release, if there are no claims to make
	Quota   ID      // that the claims count in; zero means none
	Key     string  // idempotency key, or empty
	Digest  []byte  // of the request's content, for the key
}

// Claim describes a claim to make.
type Claim struct {
	Name   string
	Length int
	Block  netip.Prefix // the exact block, or invalid
	Body   string       // other values, as JSON
}

// Hold is a held block. Seq is the number of the log row that made it.
type Hold struct {
	Pool  ID
	Block netip.Prefix
	Seq   int64
	Name  string
	Body  string
}

// Refusal is an answer to a request that changed nothing.
type Refusal struct {
	Code   Code
	Name   string        // of the claim that was refused
	Counts map[int]int64 // for Full: the free blocks by length
}

// Code is the reason of a refusal.
type Code string

// The reasons.
const (
	Full      Code = "full"        // no free block is large enough
	Taken     Code = "block taken" // the exact block is not free
	NameTaken Code = "name taken"
	NotFound  Code = "not found"
	OverQuota Code = "quota exceeded"
	KeyReused Code = "key reused" // another request used the key
)

func (r *Refusal) Error() string { return fmt.Sprintf("%s: %s", r.Name, r.Code) }

// change is a change of a block, as a log row contains it. Its order in the log row is the order of the requests.
type change struct {
	Op      string       `json:"o"`
	Block   netip.Prefix `json:"b"`
	Name    string       `json:"n,omitempty"`
	Hold    int64        `json:"h,omitempty"` // sequence number of the hold that ends
	Request int          `json:"r,omitempty"` // index of the request in the group
	Project int          `json:"p,omitempty"` // index in the log row's projects
}

// The operations of a change.
const (
	opClaim   = "claim"
	opRelease = "release"
)

// logBody is the content of a log row.
type logBody struct {
	Projects []ID     `json:"p,omitempty"`
	Changes  []change `json:"c,omitempty"`
}
