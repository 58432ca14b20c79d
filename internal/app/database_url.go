package app

import (
	"fmt"
	"log/slog"
	"net/url"
	"strings"

	"github.com/carve-ipam/carve/internal/crdb/dial"
)

// databaseURL returns the database URL from --database-url-file or, without this flag, from --database-url. "" means that the server starts an
// embedded database.
func (c Config) databaseURL(log *slog.Logger) (string, error) {
	if c.DatabaseFile != "" {
		dsn, err := dial.URLFromFile(c.DatabaseFile)
		if err != nil {
			return "", fmt.Errorf("--database-url-file: %w", err)
		}
		return dsn, nil
	}
	if c.bareURL && withPassword(c.DatabaseURL) {
		log.Warn("the database's password is on the command line, where every user of this machine can read it: set the URL by --database-url-file or CARVE_DATABASE_URL")
	}
	return c.DatabaseURL, nil
}

// withPassword reports whether a database URL or a DSN with name=value pairs contains a password.
func withPassword(dsn string) bool {
	if u, err := url.Parse(dsn); err == nil && u.User != nil {
		_, has := u.User.Password()
		return has || u.Query().Has("password")
	}
	return strings.Contains(dsn, "password=")
}
