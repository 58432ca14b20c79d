package feed

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// position is a follower's position in the feed. The follower has all changes committed before From.
//
// A pass reads the rows from one position to the next, in several parts. In the middle of a pass, Next is set. Then the follower also has the changes
// committed before Next, but only from the rows up to the event After. When the pass ends, Next becomes From.
type position struct {
	From  storage.FeedPosition  `json:"f"`
	Next  *storage.FeedPosition `json:"n,omitempty"`
	After ipam.ID               `json:"a,omitzero"`
}

// has reports whether a follower already has a change.
func (p position) has(c *Change) bool {
	if storage.CommitBefore(c.commit, p.From.Commit) {
		return true
	}
	return p.Next != nil && !later(c.row, p.After) && storage.CommitBefore(c.commit, p.Next.Commit)
}

// sealer converts between cursors and positions in a project. It encrypts a cursor with a secret from the database. So a cursor does not reveal how
// much other projects write. A restore changes the secret, and so does a failover to another PostgreSQL server. So the server refuses a cursor from
// another project, from another database, or from this database before such a change. Equal positions have equal cursors.
type sealer struct {
	aead    cipher.AEAD
	key     []byte
	project []byte
}

func newSealer(secret string, project ipam.ID) *sealer {
	key := sha256.Sum256([]byte("carve feed " + secret))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err) // cannot happen, because the key has a valid length
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err) // cannot happen, because the cipher has a valid block size
	}
	return &sealer{aead: aead, key: key[:], project: project[:]}
}

func (s *sealer) seal(p position) string {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // cannot happen, because strings, times and ids can always be encoded
	}
	mac := hmac.New(sha256.New, s.key)
	mac.Write(s.project)
	mac.Write(text)
	nonce := mac.Sum(nil)[:s.aead.NonceSize()]
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nonce, nonce, text, s.project))
}

func (s *sealer) open(cursor string) (p position, err error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(raw) < s.aead.NonceSize()+s.aead.Overhead() {
		return p, errNoCursor
	}
	n := s.aead.NonceSize()
	text, err := s.aead.Open(nil, raw[:n], raw[n:], s.project)
	if err != nil {
		return p, errOtherSecret
	}
	if err := json.Unmarshal(text, &p); err != nil {
		return p, errOtherSecret
	}
	return p, nil
}

var (
	errNoCursor = ipam.Invalid("query:after", "is not a cursor; pass changesCursor of a list, or cursor of an earlier response.")
	errExpired  = ipam.Errorf(ipam.CodeCursorExpired,
		"The server has deleted changes after this cursor. List again, and follow from the changesCursor of the list.")
	errOtherSecret = ipam.Errorf(ipam.CodeCursorExpired,
		"The cursor belongs to another project or database, or the database was restored or failed over since. List again, and follow from the changesCursor of the list.")
	errStopping = ipam.Errorf(ipam.CodeUnavailable, "The server shuts down. Connect again and continue from the last cursor.")
	errSlow     = ipam.Errorf(ipam.CodeRateLimited,
		"The client reads too slowly. Connect again and continue from the last cursor, or follow fewer changes.")
	errFull         = ipam.Errorf(ipam.CodeUnavailable, "%d requests already follow changes at this server, which is the maximum. Try again later, or at another server.", maxFollowers)
	errProjectLimit = ipam.Errorf(ipam.CodeRateLimited, "%d requests already follow the changes of this project at this server, which is the maximum. End some of them.", maxPerProject)
	errCallerLimit  = ipam.Errorf(ipam.CodeRateLimited, "This caller already follows changes in %d requests, which is the maximum. End some of them.", maxPerCaller)
)
