package pgfault

import "github.com/jackc/pgx/v5/pgproto3"

// relayRequests reads the client's messages, applies the rules, and sends the messages to the server. When the client ends or a rule cuts it off, it
// ends the stream to the server and returns.
func (s *session) relayRequests() {
	defer closeWrite(s.server)
	for {
		msg, err := s.be.Receive()
		if err != nil {
			s.flushRequests() // deliver the requests that the lost client has sent
			return
		}
		if !s.request(msg) {
			return
		}
	}
}

// request handles one message. It returns false to end the stream.
func (s *session) request(msg pgproto3.FrontendMessage) bool {
	if s.skipping {
		switch msg.(type) {
		case *pgproto3.Sync, *pgproto3.Terminate:
			s.skipping = false
		case *pgproto3.Flush: // asks for the error
		default:
			return true
		}
	}
	switch m := msg.(type) {
	case *pgproto3.Query:
		return s.query(m.String)
	case *pgproto3.Parse:
		return s.parse(m)
	case *pgproto3.Bind:
		s.bind(m)
		s.send(m, &step{kind: stepBind})
	case *pgproto3.Describe:
		s.send(m, &step{kind: stepDescribe})
	case *pgproto3.Execute:
		return s.execute(m)
	case *pgproto3.Close:
		if m.ObjectType == 'S' {
			delete(s.statements, m.Name)
		} else {
			delete(s.portals, m.Name)
		}
		s.send(m, &step{kind: stepClose})
	case *pgproto3.Sync:
		s.send(m, &step{kind: stepSync})
		s.midCycle = false
		return s.flushRequests()
	case *pgproto3.FunctionCall:
		s.send(m, &step{kind: stepQuery})
		return s.flushRequests()
	case *pgproto3.Terminate:
		s.fe.Send(m)
		s.flushRequests()
		return false
	default: // Flush, and the client's half of COPY
		s.fe.Send(m)
		return s.flushRequests()
	}
	return true
}

func (s *session) query(text string) bool {
	st := analyse(text)
	e := s.event(st.kind, st, false)
	a, ok := s.admit(e)
	if !ok {
		return false
	}
	s.inTx, s.midCycle = st.inTxAfter(s.inTx), false
	text = s.p.rules.rewrite(text)
	answer := &step{kind: stepQuery, action: a}
	switch {
	case a.Drop && a.Answer == Error:
		text = substituteFor(st)
	case a.Answer == Empty && e.InTx:
		text, answer.wrapped = withUndo(text)
	}
	s.send(&pgproto3.Query{String: text}, answer)
	return s.flushRequests()
}

func (s *session) parse(m *pgproto3.Parse) bool {
	st := analyse(m.Query)
	s.statements[m.Name] = st
	if _, ok := s.admit(s.event(Prepare, st, true)); !ok {
		return false
	}
	rewritten := &pgproto3.Parse{Name: m.Name, Query: s.p.rules.rewrite(m.Query), ParameterOIDs: m.ParameterOIDs}
	s.send(rewritten, &step{kind: stepParse})
	return true
}

func (s *session) execute(m *pgproto3.Execute) bool {
	st, bound := &statement{}, []string(nil) // prepared by SQL, or not at all; the server decides
	if p := s.portals[m.Portal]; p != nil {
		st, bound = p.statement, p.bound
	}
	e := s.event(st.kind, st, true)
	e.values.bound = bound
	a, ok := s.admit(e)
	if !ok {
		return false
	}
	s.inTx = st.inTxAfter(s.inTx)
	s.skipping = a.Answer == Error
	switch {
	case a.Drop && a.Answer == Error:
		s.executeSubstitute(st, a)
	case a.Answer == Empty && e.InTx:
		s.executeUndone(m, a)
	default:
		s.send(m, &step{kind: stepExecute, action: a})
	}
	return true
}

// event describes a request to the rules.
func (s *session) event(kind Kind, st *statement, extended bool) Event {
	if open, known := s.pending.inTx(); known && !s.midCycle {
		s.inTx = open
	}
	s.midCycle = true
	s.seq++
	return Event{
		Conn: s.conn, Seq: s.seq, Kind: kind, SQL: st.sql, Text: st.text, Tables: st.tables, Writes: st.writes,
		InTx: s.inTx, Extended: extended, values: values{literals: st.literals},
	}
}

// admit gets the rules' action for an event and applies the part that concerns the request: a delay, a hold, a partition, or the end of the
// connection. If the connection ends, it returns false.
func (s *session) admit(e Event) (Action, bool) {
	a := s.p.rules.decide(e)
	s.delay = max(s.delay, a.Delay)
	if a.Hold != nil && !a.Hold.pass(e, s.p.ctx.Done()) {
		return a, false
	}
	if a.Cut == CutBefore {
		s.p.Partition()
	}
	if a.refuses() && a.Answer == Fatal {
		s.setFinalError(a.error())
	}
	if a.refuses() || a.Cut == CutBefore {
		s.p.rules.count(a.Name)
	}
	return a, !a.refuses()
}

// send buffers a request and queues the step that describes its response.
func (s *session) send(msg pgproto3.FrontendMessage, answer *step) {
	s.pending.push(answer)
	s.fe.Send(msg)
}
