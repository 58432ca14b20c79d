package pgfault

import (
	"net"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/stretchr/testify/require"
)

// raw sends single protocol messages, for sequences that our drivers never send.
func (b *bench) raw(t *testing.T) *pgproto3.Frontend {
	t.Helper()
	fe, _ := b.rawConn(t)
	return fe
}

func (b *bench) rawConn(t *testing.T) (*pgproto3.Frontend, net.Conn) {
	t.Helper()
	conn, err := pgconn.Connect(b.ctx, b.proxy.DSN())
	require.NoError(t, err)
	hijacked, err := conn.Hijack()
	require.NoError(t, err)
	t.Cleanup(func() { _ = hijacked.Conn.Close() })
	deadline, _ := b.ctx.Deadline()
	require.NoError(t, hijacked.Conn.SetDeadline(deadline))
	return hijacked.Frontend, hijacked.Conn
}

// talk sends messages and returns the types of the responses up to the last expected one.
func talk(t *testing.T, fe *pgproto3.Frontend, until string, messages ...pgproto3.FrontendMessage) []string {
	t.Helper()
	for _, m := range messages {
		fe.Send(m)
	}
	require.NoError(t, fe.Flush())
	var out []string
	for {
		m, err := fe.Receive()
		require.NoError(t, err, "after %q", out)
		out = append(out, kindOf(m))
		if out[len(out)-1] == until {
			return out
		}
	}
}

func kindOf(m pgproto3.BackendMessage) string {
	switch m := m.(type) {
	case *pgproto3.ParseComplete:
		return "parsed"
	case *pgproto3.BindComplete:
		return "bound"
	case *pgproto3.CloseComplete:
		return "closed"
	case *pgproto3.ParameterDescription:
		return "parameters"
	case *pgproto3.RowDescription:
		return "columns"
	case *pgproto3.NoData:
		return "no columns"
	case *pgproto3.DataRow:
		return "row"
	case *pgproto3.PortalSuspended:
		return "suspended"
	case *pgproto3.CommandComplete:
		return string(m.CommandTag)
	case *pgproto3.EmptyQueryResponse:
		return "empty"
	case *pgproto3.CopyInResponse:
		return "copy in"
	case *pgproto3.FunctionCallResponse:
		return "result"
	case *pgproto3.ErrorResponse:
		return m.Code
	case *pgproto3.NoticeResponse:
		return "notice"
	case *pgproto3.ParameterStatus:
		return m.Name
	case *pgproto3.ReadyForQuery:
		return "ready " + string(m.TxStatus)
	}
	return "?"
}
