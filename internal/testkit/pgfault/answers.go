package pgfault

import (
	"bytes"

	"github.com/jackc/pgx/v5/pgproto3"
)

// relayAnswers reads the server's messages, applies the rules, and sends the results to the client. When the server has ended its side, it closes the
// client's side and returns.
func (s *session) relayAnswers() {
	defer func() { _ = s.client.Close() }() // it may already be closed
	for {
		msg, err := s.fe.Receive()
		if err != nil {
			break
		}
		if s.cutOff {
			continue
		}
		// Flush when no more input is buffered, because the client may be waiting for this message.
		if !s.answer(msg) || s.fe.ReadBufferLen() == 0 && !s.flushAnswers() {
			s.cutOff = true
			_ = s.client.Close()
		}
	}
	if s.cutOff {
		return
	}
	s.mu.Lock()
	words := s.finalError
	s.mu.Unlock()
	if words != nil {
		s.toClient(words)
	}
	s.flushAnswers()
}

// answer handles one message. It returns false to cut the client off.
func (s *session) answer(msg pgproto3.BackendMessage) bool {
	head := s.pending.head()
	switch m := msg.(type) {
	case *pgproto3.NoticeResponse:
		// A ROLLBACK in place of COMMIT may cause a warning about a statement that the client never sent.
		if s.fault == nil && (head == nil || !head.action.withholds()) {
			s.toClient(m)
		}
		return true
	case *pgproto3.ParameterStatus, *pgproto3.NotificationResponse:
		s.toClient(m)
		return true
	}
	if head != nil && !head.reached {
		s.reach(head)
	}
	if ready, ok := msg.(*pgproto3.ReadyForQuery); ok {
		return s.ready(ready)
	}
	switch {
	case head == nil:
		s.toClient(msg)
		return true
	case s.fault != nil:
		s.withhold(head, msg)
	default:
		s.show(head, msg)
	}
	if head.endedBy(msg) {
		s.pending.pop()
	}
	return true
}

// reach applies a step's action when the server begins its response. At that point the request has run.
func (s *session) reach(head *step) {
	head.reached = true
	a := head.action
	if a.Cut == CutAfter {
		s.p.Partition()
	}
	if !a.passive() && a.Cut != CutBefore {
		s.p.rules.count(a.Name)
	}
	if a.withholds() {
		s.fault, s.errorSent = &a, false
	}
}

// ready handles ReadyForQuery, which ends a cycle of requests and the cycle's fault. A statement outside a transaction commits only here.
func (s *session) ready(msg *pgproto3.ReadyForQuery) bool {
	s.pending.ready(msg.TxStatus)
	fault := s.fault
	s.fault = nil
	if fault != nil {
		switch {
		case fault.Answer == Nothing:
			return false
		case fault.Answer == Fatal:
			s.toClient(fault.error())
			s.flushAnswers()
			return false
		case !s.errorSent:
			s.toClient(fault.error())
		}
	}
	s.toClient(msg)
	return true
}

// withhold drops a message of the server while a fault applies. In the extended protocol, it sends the fault's error at the end of the statement,
// because the client may wait for the error before it sends Sync. In the simple protocol, ready sends the error.
func (s *session) withhold(head *step, msg pgproto3.BackendMessage) {
	switch msg.(type) {
	case *pgproto3.CopyInResponse, *pgproto3.CopyBothResponse: // the server now waits for the client
		s.toClient(msg)
		return
	}
	_, failed := msg.(*pgproto3.ErrorResponse)
	if s.fault.Answer == Error && !s.errorSent && head.kind == stepExecute && (failed || head.endedBy(msg)) {
		s.toClient(s.fault.error())
		s.errorSent = true
	}
}

// show passes a message on, unless it belongs to a request of the proxy or the fault removes rows.
func (s *session) show(head *step, msg pgproto3.BackendMessage) {
	switch m := msg.(type) {
	case *pgproto3.ErrorResponse: // the server's own error always reaches the client
	case *pgproto3.CommandComplete:
		head.done++
		if head.hidden || head.wrapped > 0 && (head.done == 1 || head.done > head.wrapped+1) {
			return
		}
		if head.action.Answer == Empty {
			m.CommandTag = noRows(m.CommandTag)
		}
	case *pgproto3.DataRow:
		if head.action.Answer == Empty {
			return
		}
	default:
		if head.hidden {
			return
		}
	}
	s.toClient(msg)
}

// noRows sets the count at the end of a command tag to zero: "SELECT 3", "INSERT 0 1".
func noRows(tag []byte) []byte {
	i := bytes.LastIndexByte(tag, ' ')
	if i < 0 || i+1 == len(tag) || !isDigit(tag[i+1]) {
		return tag
	}
	return append(bytes.Clone(tag[:i+1]), '0')
}
