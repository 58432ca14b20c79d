package rivals

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"strconv"

	"github.com/jackc/pgx/v5"
	goipam "github.com/metal-stack/go-ipam"
	"github.com/metal-stack/go-ipam/api/v1/apiv1connect"
	"github.com/metal-stack/go-ipam/pkg/service"
)

// openGoIPAM measures go-ipam's own service with its PostgreSQL storage. Clients request addresses of one prefix in JSON.
func openGoIPAM(ctx context.Context, db *database, c cell) (*session, error) {
	manager, done, err := startGoIPAM(ctx, db)
	if err != nil {
		return nil, err
	}
	path, handler := apiv1connect.NewIpamServiceHandler(service.New(slog.New(slog.DiscardHandler), manager))
	mux := http.NewServeMux()
	mux.Handle(path, handler)
	addr, stop, err := listen(ctx, mux)
	if err != nil {
		return nil, errors.Join(err, done())
	}
	p := newPoster(addr, apiv1connect.IpamServiceAcquireIPProcedure, "", c.clients)
	body := []byte(`{"prefixCidr":"` + poolCIDR + `"}`)
	return &session{
		hand: func(ctx context.Context, client int) (uint64, error) {
			answer, err := p.post(ctx, client, body)
			if err != nil {
				return 0, err
			}
			var got struct{ IP struct{ IP netip.Addr } }
			if err := json.Unmarshal(answer, &got); err != nil {
				return 0, err
			}
			return number(netip.PrefixFrom(got.IP.IP, addressBits))
		},
		first: 1, // go-ipam reserves the first address of a prefix
		close: func() error { p.close(); return errors.Join(stop(), done()) },
	}, nil
}

// startGoIPAM makes a database for go-ipam with one prefix.
func startGoIPAM(ctx context.Context, db *database) (goipam.Ipamer, func() error, error) {
	name, err := db.fresh(ctx)
	if err != nil {
		return nil, nil, err
	}
	done := func() error { return db.Drop(name) } // go-ipam's storage cannot be closed, but this ends its sessions
	config, err := pgx.ParseConfig(db.DSN(name))
	if err != nil {
		return nil, nil, errors.Join(err, done())
	}
	// The storage's URL cannot contain the directory of a socket. If the URL names no host, the storage's driver reads this variable.
	if err := os.Setenv("PGHOST", config.Host); err != nil {
		return nil, nil, errors.Join(err, done())
	}
	storage, err := goipam.NewPostgresStorage("", strconv.Itoa(int(config.Port)), config.User, config.Password, name, goipam.SSLModeDisable)
	if err != nil {
		return nil, nil, errors.Join(err, done())
	}
	manager := goipam.NewWithStorage(storage)
	if _, err = manager.NewPrefix(ctx, poolCIDR); err == nil {
		err = db.Settle(ctx, name)
	}
	if err != nil {
		return nil, nil, errors.Join(err, done())
	}
	return manager, done, nil
}
