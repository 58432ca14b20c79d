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

// errDeciding is the error for a cancel request that Link does not send.
var errDeciding = errors.New("the COMMIT on this connection runs and cannot be cancelled")

// Link controls a database connection's socket during a COMMIT, so that no COMMIT is cancelled.
//
// If the driver abandons a connection, after a deadline or a network failure, it asks the server to cancel the running statement. During a COMMIT
// that is wrong. If a PostgreSQL server waits for its standby in a COMMIT, the cancel request ends that wait. The change is then visible at once,
// although only one server has it.
//
// So while a COMMIT is in flight, Link sends no cancel request. It closes the socket instead, and the server ends the COMMIT by itself. Statements
// before a COMMIT are cancelled as usual, because nobody needs their effects.
type Link struct {
	dial pgconn.DialFunc

	mu       sync.Mutex
	socket   net.Conn // the socket below TLS
	made     bool     // the connection is established; later calls to open are for cancel requests
	deciding bool     // a COMMIT was sent and has no reply yet
	warning  *pgconn.Notice
}

// linkKey is the link's key in the connection's CustomData.
const linkKey = "carve.link"

// NewLink adds a link to a new connection's configuration.
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

// silence is the time after which a connection is closed because the database's machine does not respond at all. During a wait for a lock or a
// COMMIT, the machine's kernel still responds, so such a wait may take longer.
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

// open is the connection's DialFunc. The driver also uses it to send a cancel request.
func (l *Link) open(ctx context.Context, network, address string) (net.Conn, error) {
	l.mu.Lock()
	refuse, socket := l.deciding, l.socket
	l.mu.Unlock()
	if refuse {
		_ = socket.Close() // otherwise the driver would wait until the server closes it
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

// noticed is the connection's OnNotice function.
func (l *Link) noticed(_ *pgconn.PgConn, n *pgconn.Notice) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.deciding && n.SeverityUnlocalized == "WARNING" {
		l.warning = n
	}
}

// BeginCommit records that a COMMIT is about to be sent.
func (l *Link) BeginCommit() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deciding, l.warning = true, nil
}

// EndCommit records that the COMMIT has a reply. It returns the warning that the server sent, or nil. PostgreSQL sends a warning with a successful
// COMMIT if another session has cancelled its wait for the standby.
func (l *Link) EndCommit() *pgconn.Notice {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deciding = false
	return l.warning
}

// cut closes the socket without the driver's knowledge.
func (l *Link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.socket != nil {
		_ = l.socket.Close()
	}
}
