package dial

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/time/rate"
)

// Renewal keeps what a new connection identifies itself with as new as the files are that it comes from: the password of a URL file,
// and the certificates that the parameters sslcert, sslkey and sslrootcert name. pgx reads those once, when it parses the URL, so a process that
// runs for longer than a certificate is valid could open no connection any more.
//
// Where the database is (hosts, ports, its name) stays as it was at the start: a server that moves to another database in the middle
// of its work has checked neither that one's schema nor its regions.
type Renewal struct {
	dsn  string
	file string // "": dsn stays
	log  *slog.Logger

	mu   sync.Mutex
	last *pgx.ConnConfig // the last that could be used
	said rate.Sometimes
}

// NewRenewal begins with the credentials of the start; file is where the URL is read again, "": it stays.
func NewRenewal(dsn, file string, start *pgx.ConnConfig, log *slog.Logger) *Renewal {
	return &Renewal{dsn: dsn, file: file, log: log, last: start.Copy(), said: rate.Sometimes{Interval: time.Minute}}
}

// Before is pgxpool's BeforeConnect. What cannot be used, such as half of a renewal, is said in the log, and the last that could be is used.
func (r *Renewal) Before(ctx context.Context, c *pgx.ConnConfig) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	next, err := r.read()
	switch {
	case err != nil:
		r.said.Do(func() {
			r.log.WarnContext(ctx, "the database's credentials were renewed and cannot be used; connecting with the last ones", "error", err)
		})
	case !samePlace(next, r.last):
		r.said.Do(func() {
			r.log.WarnContext(ctx, "the database URL names another database than at the start; connecting to the one of the start, with the credentials of then")
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

// samePlace reports whether two URLs lead to the same database by the same ways.
func samePlace(a, b *pgx.ConnConfig) bool {
	if a.Host != b.Host || a.Port != b.Port || a.Database != b.Database || len(a.Fallbacks) != len(b.Fallbacks) {
		return false
	}
	for i, f := range a.Fallbacks {
		if g := b.Fallbacks[i]; f.Host != g.Host || f.Port != g.Port || (f.TLSConfig == nil) != (g.TLSConfig == nil) {
			return false
		}
	}
	return (a.TLSConfig == nil) == (b.TLSConfig == nil)
}
