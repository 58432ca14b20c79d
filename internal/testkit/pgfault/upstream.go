package pgfault

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// upstream is the server behind the proxy.
type upstream struct {
	config           *pgconn.Config
	network, address string
}

// resolve parses a DSN like pgx, including environment variables and the service file. It takes the first address without TLS, because the proxy must
// read the traffic.
func resolve(dsn string) (upstream, error) {
	config, err := pgconn.ParseConfig(dsn)
	if err != nil {
		return upstream{}, fmt.Errorf("pgfault: upstream: %w", err)
	}
	hosts := []*pgconn.FallbackConfig{{Host: config.Host, Port: config.Port, TLSConfig: config.TLSConfig}}
	for _, h := range append(hosts, config.Fallbacks...) {
		if h.TLSConfig == nil {
			network, address := pgconn.NetworkAddress(h.Host, h.Port)
			return upstream{config: config, network: network, address: address}, nil
		}
	}
	return upstream{}, errors.New("pgfault: upstream: the DSN insists on TLS, which the proxy does not speak")
}

func (u upstream) dial(ctx context.Context) (net.Conn, error) {
	return u.config.DialFunc(ctx, u.network, u.address)
}

// dsnVia returns the upstream DSN with another address and the same user, password, database and settings.
func (u upstream) dsnVia(addr net.Addr) string {
	query := url.Values{"sslmode": {"disable"}}
	for name, value := range u.config.RuntimeParams {
		query.Set(name, value)
	}
	if u.config.ConnectTimeout > 0 {
		query.Set("connect_timeout", strconv.Itoa(int(u.config.ConnectTimeout.Seconds())))
	}
	user := url.User(u.config.User)
	if u.config.Password != "" {
		user = url.UserPassword(u.config.User, u.config.Password)
	}
	dsn := url.URL{
		Scheme: "postgres",
		User:   user,
		Host:   addr.String(),
		Path:   "/" + u.config.Database,
		// libpq does not decode "+" as a space.
		RawQuery: strings.ReplaceAll(query.Encode(), "+", "%20"),
	}
	return dsn.String()
}
