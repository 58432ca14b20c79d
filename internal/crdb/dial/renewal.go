package dial

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/time/rate"
)

// Renewal reloads the credentials from their files for each new connection. The credentials are the password in a URL file, and the certificates in
// the parameters sslcert, sslkey and sslrootcert. pgx reads these files only when it parses the URL. So without a Renewal, a long-running process
// could not open connections after the certificates have expired.
//
// The location of the database (hosts, ports and name) stays the same as at the start. A server must not move to another database while it works,
// because it has not checked that database's schema and regions.
type Renewal struct {
	dsn  string
	file string // file with the URL; "": dsn is the URL and does not change
	log  *slog.Logger

	mu       sync.Mutex
	last     *pgx.ConnConfig // the last configuration that was usable
	logLimit rate.Sometimes
}

// NewRenewal returns a Renewal that begins with the credentials in start. It reads the URL again from file. If file is "", the URL does not change.
func NewRenewal(dsn, file string, start *pgx.ConnConfig, log *slog.Logger) *Renewal {
	return &Renewal{dsn: dsn, file: file, log: log, last: start.Copy(), logLimit: rate.Sometimes{Interval: time.Minute}}
}

// BeforeConnect is a BeforeConnect function for pgxpool. If the files are unusable, for example during a renewal, it logs a warning and uses the last
// usable credentials.
func (r *Renewal) BeforeConnect(ctx context.Context, c *pgx.ConnConfig) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	next, err := r.read()
	switch {
	case err != nil:
		r.logLimit.Do(func() {
			r.log.WarnContext(ctx, "cannot use the renewed credentials of the database; connecting with the previous ones", "error", err)
		})
	case !samePlace(next, r.last):
		r.logLimit.Do(func() {
			r.log.WarnContext(ctx, "the renewed database URL names another database; connecting to the first database with its own credentials")
		})
	default:
		r.last = next
	}
	c.User, c.Password, c.TLSConfig, c.Fallbacks = r.last.User, r.last.Password, r.last.TLSConfig, r.last.Fallbacks
	return nil
}

func (r *Renewal) read() (*pgx.ConnConfig, error) {
	dsn := r.dsn
	if r.file != "" {
		var err error
		if dsn, err = URLFromFile(r.file); err != nil {
			return nil, err
		}
	}
	return Parse(dsn)
}

// samePlace reports whether two configurations name the same database on the same hosts.
func samePlace(a, b *pgx.ConnConfig) bool {
	same := func(f, g *pgconn.FallbackConfig) bool {
		return f.Host == g.Host && f.Port == g.Port && (f.TLSConfig == nil) == (g.TLSConfig == nil)
	}
	return a.Host == b.Host && a.Port == b.Port && a.Database == b.Database && (a.TLSConfig == nil) == (b.TLSConfig == nil) &&
		slices.EqualFunc(a.Fallbacks, b.Fallbacks, same)
}
