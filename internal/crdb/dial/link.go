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

// errDeciding is why a cancel request is not sent.
var errDeciding = errors.New("the connection's COMMIT is under way, and is not cancelled")

// Link is the way of one connection to its database, as a COMMIT needs it.
//
// The driver asks the server to cancel what it does whenever it gives a connection up: for a deadline, and for a cut. In the middle of a COMMIT that
// is wrong. A PostgreSQL whose COMMIT waits for its standby takes the request for leave not to wait: what was to be durable at two places is visible at
// once, and at one place alone. So no cancel request leaves while a COMMIT is under way; the socket is closed, and the server ends by itself what
// it has begun. Statements before COMMIT are cancelled as ever: nobody needs what they do.
type Link struct {
	dial pgconn.DialFunc

	mu       sync.Mutex
	socket   net.Conn // under TLS, where there is any
	made     bool     // what is dialled from now on is to cancel
	deciding bool     // COMMIT was sent, and has no answer
	warning  *pgconn.Notice
}

// linkKey is where a connection keeps its link.
const linkKey = "carve.link"

// NewLink gives a connection that is about to be made a link.
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

// silence is how long a database may be silent, and not even its machine's kernel answer, before its connections are given up. What waits for a lock or a
// COMMIT is not that: the kernel answers.
const silence = 11 * time.Second

func dialer(timeout time.Duration) *net.Dialer {
	return &net.Dialer{
		Timeout: timeout, Control: giveUpAfter(silence),
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 3},
	}
}

// LinkOf is a connection's link.
func LinkOf(c *pgx.Conn) *Link {
	l, ok := c.PgConn().CustomData()[linkKey].(*Link)
	if !ok {
		return &Link{} // of a connection that is not the pool's
	}
	return l
}

// open is the connection's DialFunc, which the driver uses for cancel requests as well.
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

// Decide notes that COMMIT is about to be sent.
func (l *Link) Decide() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deciding, l.warning = true, nil
}

// Decided notes that COMMIT was answered, and says what the server warned of: PostgreSQL answers that it has committed, with a warning, when
// somebody else made it stop waiting for its standby.
func (l *Link) Decided() *pgconn.Notice {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deciding = false
	return l.warning
}

// cut closes the connection under the driver.
func (l *Link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.socket != nil {
		_ = l.socket.Close()
	}
}
