package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"

	"github.com/carve-ipam/carve/internal/app"
	"github.com/carve-ipam/carve/internal/ipam"
)

// openCarveHTTP is the whole server as an operator starts it, with API keys. Rate limits alone are off, because all clients are one
// caller; its log is written as by default, to nowhere.
func openCarveHTTP(ctx context.Context, db *database, c cell) (_ *session, err error) {
	f, err := newCarved(ctx, db, c)
	if err != nil {
		return nil, err
	}
	var server *app.App
	closeAll := func() error {
		var err error
		if server != nil {
			err = server.Close(context.Background())
		}
		return errors.Join(err, f.close())
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, closeAll())
		}
	}()
	dsn := db.dsn(f.name)
	token, err := app.Bootstrap(ctx, dsn, region)
	if err != nil {
		return nil, err
	}
	config, _, err := app.ParseConfig([]string{"--listen=127.0.0.1:0", "--database-url=" + dsn, "--auth=keys", "--rate-limit-writes=0"}, nil)
	if err != nil {
		return nil, err
	}
	if server, err = app.Start(ctx, config, io.Discard); err != nil {
		return nil, err
	}
	projects := newPoster(server.Addr(), "/v1/projects/"+ipam.PlatformProject+"/api-keys", token, 1)
	defer projects.close()
	answer, err := projects.post(ctx, 0, []byte(`{"metadata":{"name":"bench"},"spec":{"role":"consumer"}}`))
	if err != nil {
		return nil, err
	}
	var key struct{ Token string }
	if err := json.Unmarshal(answer, &key); err != nil {
		return nil, err
	}
	if err := db.settle(ctx, f.name); err != nil {
		return nil, err
	}
	next := newNames(c.clients)
	p := newPoster(server.Addr(), "/v1/projects/"+ipam.PlatformProject+"/claims", key.Token, c.clients)
	return &session{
		hand: func(ctx context.Context, client int) (uint64, error) {
			answer, err := p.post(ctx, client, fmt.Appendf(nil, `{"metadata":{"name":%q},"spec":{"poolRef":{"name":%q},"prefixLength":%d}}`, next.name(client), poolName, f.bits))
			if err != nil {
				return 0, err
			}
			got, err := blockIn(answer)
			if err != nil {
				return 0, err
			}
			return number(got, f.bits)
		},
		first: uint64(c.held), //nolint:gosec // not negative
		check: f.audit,
		close: func() error { p.close(); return closeAll() },
	}, nil
}

// blockIn finds the block in an answer without decoding the rest of it, which is the generator's time and not the server's.
func blockIn(answer []byte) (netip.Prefix, error) {
	_, rest, found := bytes.Cut(answer, []byte(`"allocatedCIDR":"`))
	text, _, ended := bytes.Cut(rest, []byte{'"'})
	if !found || !ended {
		return netip.Prefix{}, fmt.Errorf("no block in the answer: %s", answer)
	}
	return netip.ParsePrefix(string(text))
}
