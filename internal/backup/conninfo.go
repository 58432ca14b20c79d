package backup

import (
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
)

// libpqParameters are those of a URL that PostgreSQL's programs know and that are no secret. pgx knows others (pools, caches, settings of a
// session), which they refuse.
var libpqParameters = []string{
	"host", "hostaddr", "port", "user", "dbname", "passfile", "sslmode", "sslcert", "sslkey", "sslrootcert", "sslcrl", "sslcrldir", "sslsni",
	"ssl_min_protocol_version", "ssl_max_protocol_version", "channel_binding", "connect_timeout", "keepalives", "keepalives_idle",
	"keepalives_interval", "keepalives_count", "tcp_user_timeout", "target_session_attrs", "gssencmode", "krbsrvname", "requirepeer",
}

// forTools is a database URL for PostgreSQL's programs: without its password, which everybody on the machine could read on a command line, and
// with it in the environment, which they cannot.
func forTools(dsn string) (public string, env []string, err error) {
	u, err := url.Parse(dsn)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		// The reason is not passed on: it may repeat a password.
		return "", nil, fmt.Errorf("%w: PostgreSQL's programs need the database as a URL, like postgresql://user@host/carve", ErrUsage)
	}
	env = os.Environ()
	password, said := u.User.Password()
	given := u.Query()
	if p := given.Get("password"); p != "" {
		password, said = p, true
	}
	if said {
		env = append(env, "PGPASSWORD="+password)
	}
	if name := u.User.Username(); name != "" {
		u.User = url.User(name)
	} else {
		u.User = nil
	}
	kept := url.Values{}
	for name, values := range given {
		if slices.Contains(libpqParameters, name) {
			kept[name] = values
		}
	}
	u.RawQuery = strings.ReplaceAll(kept.Encode(), "+", "%20") // libpq takes a plus for a plus
	return u.String(), append(env, "PGAPPNAME=carve-backup"), nil
}

// isURI tells a place that database nodes reach from a directory of this machine.
func isURI(to string) bool { return strings.Contains(to, "://") }
