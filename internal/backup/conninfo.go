package backup

import (
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
)

// libpqParameters are the URL parameters that PostgreSQL's programs know and that contain no secret. pgx knows more parameters (pools, caches,
// session settings), but PostgreSQL's programs would refuse them.
var libpqParameters = []string{
	"host", "hostaddr", "port", "user", "dbname", "passfile", "sslmode", "sslcert", "sslkey", "sslrootcert", "sslcrl", "sslcrldir", "sslsni",
	"ssl_min_protocol_version", "ssl_max_protocol_version", "channel_binding", "connect_timeout", "keepalives", "keepalives_idle",
	"keepalives_interval", "keepalives_count", "tcp_user_timeout", "target_session_attrs", "gssencmode", "krbsrvname", "requirepeer",
}

// toolURL converts a database URL for PostgreSQL's programs. It moves the password from the URL into the environment, because other users can read
// the URL on the command line but not the environment.
func toolURL(dsn string) (public string, env []string, err error) {
	u, err := url.Parse(dsn)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		// The error does not contain the parser's reason, because the reason may repeat a password.
		return "", nil, fmt.Errorf("%w: PostgreSQL's programs need the database as a URL, like postgresql://user@host/carve", ErrUsage)
	}
	env = os.Environ()
	password, isSet := u.User.Password()
	given := u.Query()
	if p := given.Get("password"); p != "" {
		password, isSet = p, true
	}
	if isSet {
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
	u.RawQuery = strings.ReplaceAll(kept.Encode(), "+", "%20") // libpq does not decode a plus as a space
	return u.String(), append(env, "PGAPPNAME=carve-backup"), nil
}

// isURI reports whether a target is a URI, to which database nodes write, and not a directory on this machine.
func isURI(to string) bool { return strings.Contains(to, "://") }
