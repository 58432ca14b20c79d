package pgscript

import "github.com/jackc/pgx/v5/pgproto3"

// Script defines the server's responses. The zero Script responds to every statement with success and no rows.
type Script struct {
	// Answer returns the reply to each statement that runs. The server calls it for one statement at a time, over all connections.
	Answer func(Statement) Reply
	// Shape describes a statement to a client that prepares it. If Shape is nil, parameters have the types of the statement's casts, or else text.
	Shape func(sql string) Shape
}

// Statement is a statement that runs now.
type Statement struct {
	Conn int    // number of its connection, from 1
	SQL  string // without comments, with one space between words
	Nth  int    // number of this occurrence among statements with the same text, from 1
	Args []any  // values of its placeholders, in the extended protocol
	// Settings are the parameters in the connection's startup message.
	Settings map[string]string
}

// Reply is the server's response to a statement. The zero Reply is success without rows.
type Reply struct {
	Code  string // SQLSTATE; the statement fails
	Fatal bool   // with Code: the error ends the session
	Cut   bool   // the connection ends without a message

	Columns []Column // columns of Rows; empty: the columns of the statement's Shape
	Rows    [][]any
	Tag     string // command tag; empty: made from the statement and the number of rows
}

// Shape describes the parameters and the columns of a prepared statement.
type Shape struct {
	Params  []uint32 // type OIDs
	Columns []Column
}

// Column is a column of a result.
type Column struct {
	Name string
	Type uint32 // OID
}

// Line is a statement that the server received.
type Line struct {
	Conn int
	SQL  string
}

func fields(columns []Column, formats []int16) *pgproto3.RowDescription {
	d := &pgproto3.RowDescription{}
	for i, c := range columns {
		d.Fields = append(d.Fields, pgproto3.FieldDescription{Name: []byte(c.Name), DataTypeOID: c.Type, DataTypeSize: -1, TypeModifier: -1, Format: format(formats, i)})
	}
	return d
}

// format returns the format of a column by the protocol's rule: text if formats is empty, and a single format applies to all columns.
func format(formats []int16, i int) int16 {
	switch {
	case len(formats) == 0:
		return pgproto3.TextFormat
	case len(formats) == 1:
		return formats[0]
	default:
		return formats[i]
	}
}
