package pgscript

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/carve-ipam/carve/internal/crdb/query"
)

const askVersion = "SELECT version()"

// Statements that a store sends in the background at any time. Said never contains them.
var (
	askClock      = normalize(query.Get("clock_read"))
	askCompatible = normalize(query.Get("compatibility_get"))
)

// session is one connection after its greeting.
type session struct {
	server   *Server
	number   int
	settings map[string]string
	backend  *pgproto3.Backend
	types    *pgtype.Map
	tx       transaction
	prepared map[string]string
	portals  map[string]portal
	skip     bool // a message failed: messages up to Sync are ignored
}

type portal struct {
	sql     string
	args    []any
	formats []int16
}

func newSession(s *Server, number int, b *pgproto3.Backend, settings map[string]string) *session {
	return &session{server: s, number: number, settings: settings, backend: b, types: pgtype.NewMap(), prepared: map[string]string{}, portals: map[string]portal{}}
}

func (s *session) talk() error {
	for {
		m, err := s.backend.Receive()
		if err != nil {
			return err
		}
		if err := s.take(m); err != nil {
			return err
		}
	}
}

// take responds to one message. If it returns an error, the session ends.
func (s *session) take(m pgproto3.FrontendMessage) error {
	switch m := m.(type) {
	case *pgproto3.Terminate:
		return errCut
	case *pgproto3.Query:
		if err := s.simple(m.String); err != nil {
			return err
		}
		s.skip = false // a simple query also acts as a Sync
		return s.ready()
	case *pgproto3.Sync:
		s.skip = false
		return s.ready()
	case *pgproto3.Flush:
		return s.backend.Flush()
	}
	if s.skip {
		return nil
	}
	return s.extended(m)
}

func (s *session) ready() error {
	s.backend.Send(&pgproto3.ReadyForQuery{TxStatus: s.tx.state.indicator()})
	return s.backend.Flush()
}

func (s *session) simple(text string) error {
	sql := normalize(text)
	if sql == "" {
		s.backend.Send(&pgproto3.EmptyQueryResponse{})
		return nil
	}
	return s.run(portal{sql: sql}, true)
}

func (s *session) extended(m pgproto3.FrontendMessage) error {
	switch m := m.(type) {
	case *pgproto3.Parse:
		s.prepared[m.Name] = normalize(m.Query)
		s.backend.Send(&pgproto3.ParseComplete{})
	case *pgproto3.Describe:
		if m.ObjectType == 'S' {
			shape := s.shape(s.prepared[m.Name])
			s.backend.Send(&pgproto3.ParameterDescription{ParameterOIDs: shape.Params})
			s.describe(shape.Columns, nil)
			return nil
		}
		p := s.portals[m.Name]
		s.describe(s.shape(p.sql).Columns, p.formats)
	case *pgproto3.Bind:
		p := portal{sql: s.prepared[m.PreparedStatement], formats: append([]int16(nil), m.ResultFormatCodes...)}
		var err error
		if p.args, err = s.arguments(m, s.shape(p.sql).Params); err != nil {
			return err
		}
		s.portals[m.DestinationPortal] = p
		s.backend.Send(&pgproto3.BindComplete{})
	case *pgproto3.Execute:
		p := s.portals[m.Portal]
		return s.run(p, false)
	case *pgproto3.Close:
		s.backend.Send(&pgproto3.CloseComplete{})
	default:
		return fmt.Errorf("pgscript: no answer to %T", m)
	}
	return nil
}

// arguments decodes the values of placeholders.
func (s *session) arguments(m *pgproto3.Bind, types []uint32) (args []any, err error) {
	for i, raw := range m.Parameters {
		if raw == nil || i >= len(types) {
			args = append(args, nil)
			continue
		}
		t, known := s.types.TypeForOID(types[i])
		if !known {
			return nil, fmt.Errorf("pgscript: $%d is of an unknown type", i+1)
		}
		v, err := t.Codec.DecodeValue(s.types, t.OID, format(m.ParameterFormatCodes, i), raw)
		if err != nil {
			return nil, fmt.Errorf("pgscript: $%d: %w", i+1, err)
		}
		args = append(args, v)
	}
	return args, nil
}

func (s *session) describe(columns []Column, formats []int16) {
	if len(columns) == 0 {
		s.backend.Send(&pgproto3.NoData{})
		return
	}
	s.backend.Send(fields(columns, formats))
}

// run runs a statement for both protocols. In the simple protocol (describe) it also sends the columns.
func (s *session) run(p portal, describe bool) error {
	sql, formats := p.sql, p.formats
	known := sql
	if strings.EqualFold(verb(sql), "rollback") || strings.EqualFold(verb(sql), "release") || strings.EqualFold(verb(sql), "savepoint") {
		known = strings.ToLower(sql)
	}
	r := s.server.note(Statement{Conn: s.number, SQL: sql, Args: p.args, Settings: s.settings}, s.tx.refusal(known))
	switch {
	case r.Cut:
		return errCut
	case r.Code != "":
		return s.error(known, r)
	}
	tag := s.tx.run(known)
	columns := r.Columns
	if columns == nil {
		columns = s.shape(sql).Columns
	}
	if describe && len(columns) > 0 {
		s.backend.Send(fields(columns, nil))
	}
	for _, row := range r.Rows {
		d := &pgproto3.DataRow{}
		for i, v := range row {
			b, err := s.types.Encode(columns[i].Type, format(formats, i), v, nil)
			if err != nil {
				return fmt.Errorf("pgscript: column %s of %q: %w", columns[i].Name, sql, err)
			}
			d.Values = append(d.Values, b)
		}
		s.backend.Send(d)
	}
	switch {
	case r.Tag != "":
		tag = r.Tag
	case tag == "":
		tag = tagOf(sql, len(r.Rows))
	}
	s.backend.Send(&pgproto3.CommandComplete{CommandTag: []byte(tag)})
	return nil
}

func (s *session) error(sql string, r Reply) error {
	severity := "ERROR"
	if r.Fatal {
		severity = "FATAL"
	}
	if r.Code != "25P02" {
		s.tx.fail(sql)
	}
	s.skip = true
	s.backend.Send(&pgproto3.ErrorResponse{Severity: severity, SeverityUnlocalized: severity, Code: r.Code, Message: "scripted: restart transaction: " + r.Code})
	if !r.Fatal {
		return nil
	}
	if err := s.backend.Flush(); err != nil {
		return err
	}
	return errCut
}

// tagOf returns the command tag of a successful statement.
func tagOf(sql string, rows int) string {
	switch v := strings.ToUpper(verb(sql)); v {
	case "SELECT":
		return fmt.Sprintf("SELECT %d", rows)
	case "INSERT":
		return fmt.Sprintf("INSERT 0 %d", max(rows, 1))
	case "UPDATE", "DELETE":
		return fmt.Sprintf("%s %d", v, max(rows, 1))
	default:
		return v
	}
}

var (
	parameter = regexp.MustCompile(`\$(\d+)`)
	cast      = regexp.MustCompile(`\$(\d+)::([A-Za-z0-9]+(?:\[\])?)`)
)

func (s *session) shape(sql string) Shape {
	if sql == askVersion {
		return Shape{Columns: []Column{{"version", pgtype.TextOID}}}
	}
	if sql == askClock {
		return Shape{Columns: []Column{{"clock_timestamp", pgtype.TimestamptzOID}}}
	}
	if s.server.script.Shape != nil {
		if shape := s.server.script.Shape(sql); shape.Params != nil || shape.Columns != nil {
			return shape
		}
	}
	return s.guess(sql)
}

// guess takes the types of parameters from the statement's own casts.
func (s *session) guess(sql string) (shape Shape) {
	for _, m := range parameter.FindAllStringSubmatch(sql, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			continue
		}
		for len(shape.Params) < n {
			shape.Params = append(shape.Params, pgtype.TextOID)
		}
	}
	for _, m := range cast.FindAllStringSubmatch(sql, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			continue
		}
		name := strings.ToLower(m[2])
		if element, list := strings.CutSuffix(name, "[]"); list {
			name = "_" + element
		}
		if t, ok := s.types.TypeForName(name); ok {
			shape.Params[n-1] = t.OID
		}
	}
	return shape
}
