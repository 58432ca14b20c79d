package rivals

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"

	"github.com/carve-ipam/carve/internal/app"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/lab/postgres"
)

// served is the complete server as an operator starts it, with API keys. Only its rate limits are off, because the server sees all clients as one
// caller. It writes the default log, which is discarded.
type served struct {
	*carved
	server *app.App
	token  string // of a consumer
}

func serveCarved(ctx context.Context, db *database, c cell) (_ *served, err error) {
	f, err := newCarved(ctx, db, c.held)
	if err != nil {
		return nil, err
	}
	s := &served{carved: f}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	dsn := db.DSN(f.name)
	token, err := app.Bootstrap(ctx, dsn, postgres.Region)
	if err != nil {
		return nil, err
	}
	config, _, err := app.ParseConfig([]string{"--listen=127.0.0.1:0", "--database-url=" + dsn, "--auth=keys", "--rate-limit-writes=0", "--rate-limit-work=0", "--rate-limit-project-work=0"}, nil)
	if err != nil {
		return nil, err
	}
	if s.server, err = app.Start(ctx, config, io.Discard); err != nil {
		return nil, err
	}
	admin := newPoster(s.server.Addr(), s.path("api-keys"), token, 1)
	defer admin.close()
	answer, err := admin.post(ctx, 0, []byte(`{"metadata":{"name":"bench"},"spec":{"role":"consumer"}}`))
	if err != nil {
		return nil, err
	}
	var key struct{ Token string }
	if err := json.Unmarshal(answer, &key); err != nil {
		return nil, err
	}
	s.token = key.Token
	return s, nil
}

// path returns the path of a collection in the project.
func (s *served) path(kind string) string { return "/v1/projects/" + s.project + "/" + kind }

// session prepares the database for the measurement. It returns a session whose clients post to a collection.
func (s *served) session(ctx context.Context, kind string, c cell, hand func(*poster) *session) (*session, error) {
	if err := s.settle(ctx, c); err != nil {
		return nil, errors.Join(err, s.close())
	}
	p := newPoster(s.server.Addr(), s.path(kind), s.token, c.clients)
	made := hand(p)
	made.check = s.check(c)
	made.close = func() error { p.close(); return s.close() }
	return made, nil
}

func (s *served) close() error {
	var err error
	if s.server != nil {
		err = s.server.Close(context.Background())
	}
	return errors.Join(err, s.carved.close())
}

// openCarveHTTP measures claims over HTTP. They are from one pool, from a pool for each client, or with an Idempotency-Key on each claim.
func openCarveHTTP(ctx context.Context, db *database, c cell) (*session, error) {
	s, err := serveCarved(ctx, db, c)
	if err != nil {
		return nil, err
	}
	pools := make([]string, c.clients)
	for i := range pools {
		pools[i] = poolName
		if c.contestant.name != ownPools {
			continue
		}
		pools[i] = fmt.Sprintf("own-%d", i)
		if err := s.pool(ctx, pools[i], fmt.Sprintf("11.%d.0.0/14", 4*i)); err != nil { // 64 blocks of this size fit into the range
			return nil, errors.Join(err, s.close())
		}
	}
	next := newNames(c.clients)
	return s.session(ctx, "claims", c, func(p *poster) *session {
		p.keyed = c.contestant.name == withKeys
		return &session{
			hand: func(ctx context.Context, client int) (uint64, error) {
				answer, err := p.post(ctx, client, claimBody(nil, next.name(client), pools[client]))
				if err != nil {
					return 0, err
				}
				got, _, err := blockIn(answer)
				if err != nil {
					return 0, err
				}
				return number(got)
			},
			first: uint64(c.held), //nolint:gosec // not negative
		}
	})
}

// openRefuse measures a refusal. It fills a second pool of the project, and the clients claim one more address from it.
func openRefuse(ctx context.Context, db *database, c cell) (*session, error) {
	const full = "full"
	s, err := serveCarved(ctx, db, c)
	if err != nil {
		return nil, err
	}
	if err = s.pool(ctx, full, "172.16.0.0/24"); err == nil {
		err = s.claims(ctx, full, 256)
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	next := newNames(c.clients)
	return s.session(ctx, "claims", c, func(p *poster) *session {
		return &session{many: func(ctx context.Context, client int, handed []uint64) ([]uint64, error) {
			answer, status, err := p.send(ctx, client, claimBody(nil, next.name(client), full))
			if err == nil && (status != http.StatusConflict || !bytes.Contains(answer, []byte(ipam.CodePoolExhausted))) {
				err = fmt.Errorf("answered %d where none is left: %s", status, answer)
			}
			return handed, err
		}}
	})
}

func claimBody(b []byte, name, pool string) []byte {
	return fmt.Appendf(b, `{"metadata":{"name":%q},"spec":{"poolRef":{"name":%q},"prefixLength":%d}}`, name, pool, addressBits)
}

// blockIn finds the first block in a response and returns the text after it. It does not decode the rest of the response. The time for that would
// count for the generator of the load, and not for the server.
func blockIn(answer []byte) (block netip.Prefix, after []byte, err error) {
	_, rest, found := bytes.Cut(answer, []byte(`"allocatedCIDR":"`))
	text, after, ended := bytes.Cut(rest, []byte{'"'})
	if !found || !ended {
		return block, nil, fmt.Errorf("no block in the answer: %s", answer)
	}
	block, err = netip.ParsePrefix(string(text))
	return block, after, err
}
