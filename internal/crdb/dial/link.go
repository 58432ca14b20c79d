package dial

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// errDeciding is the error for a cancel request that is not sent.
var errDeciding = errors.New("the COMMIT on this connection runs and cannot be cancelled")

// Link controls a database connection's socket during COMMIT.
//
// When the driver gives up a connection, after a deadline or a cut, it asks the server to cancel the running statement. During COMMIT that is wrong.
// A PostgreSQL server that waits for its standby would stop waiting: the change becomes visible at once although only one server has it. So no cancel
// request leaves while a COMMIT is in flight. Instead the socket is closed, and the server finishes on its own. Statements before COMMIT are
// cancelled as usual, because their effects are not needed.
type Link struct {
	dial pgconn.DialFunc

	mu       sync.Mutex
	socket   net.Conn // below TLS, if any
	made     bool     // the connection is established; later dials are cancel requests
	deciding bool     // COMMIT was sent and has no reply yet
	warning  *pgconn.Notice
}

// linkKey is the link's key in the connection's custom data.
const linkKey = "carve.link"

// NewLink adds a link to a connection that is about to be made.
func NewLink(c *pgx.ConnConfig) {
	l := &Link{dial: dialer(c.ConnectTimeout).DialContext}
	c.DialFunc = l.open
	c.OnNotice = l.noticed
	connected := c.AfterConnect
	c.AfterConnect = func(ctx context.Context, conn *pgconn.PgConn) error {
		l.mu.Lock()
		l.made = true
		l.mu.Unlock()
		conn.CustomData()[linkKey] = l
		if connected == nil {
			return nil
		}
		return connected(ctx, conn)
	}
}

// silence is the time after which a connection to an unreachable machine is closed: not even its kernel responds. A wait for a lock or a COMMIT does
// not count, because the kernel responds.
const silence = 11 * time.Second

func dialer(timeout time.Duration) *net.Dialer {
	return &net.Dialer{
		Timeout: timeout, Control: giveUpAfter(silence),
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 3},
	}
}

// LinkOf returns a connection's link.
func LinkOf(c *pgx.Conn) *Link {
	l, ok := c.PgConn().CustomData()[linkKey].(*Link)
	if !ok {
		return &Link{} // a connection from outside the pool
	}
	return l
}

// open is the connection's DialFunc. The driver also uses it for cancel requests.
func (l *Link) open(ctx context.Context, network, address string) (net.Conn, error) {
	l.mu.Lock()
	refuse, socket := l.deciding, l.socket
	l.mu.Unlock()
	if refuse {
		_ = socket.Close() // the driver would wait for the server to close it
		return nil, errDeciding
	}
	c, err := l.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.made {
		l.socket = c
	}
	return c, nil
}

// noticed is the connection's OnNotice.
func (l *Link) noticed(_ *pgconn.PgConn, n *pgconn.Notice) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.deciding && n.SeverityUnlocalized == "WARNING" {
		l.warning = n
	}
}

// Decide records that COMMIT is about to be sent.
func (l *Link) Decide() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deciding, l.warning = true, nil
}

// Decided records that COMMIT has a reply, and returns the server's warning, if any. PostgreSQL reports a commit with a warning when another session
// has cancelled its wait for the standby.
func (l *Link) Decided() *pgconn.Notice {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deciding = false
	return l.warning
}

// cut closes the socket below the driver.
func (l *Link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.socket != nil {
		_ = l.socket.Close()
	}
}
