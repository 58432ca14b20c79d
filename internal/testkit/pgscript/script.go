package pgscript

import "github.com/jackc/pgx/v5/pgproto3"

// Script says what the server answers. The zero Script answers every statement with success and no rows.
type Script struct {
	// Answer is asked about each statement that is to be run, one at a time whatever the number of connections.
	Answer func(Statement) Reply
	// Shape describes a statement to a client that prepares it. Nil: parameters are of the types that the statement casts them to, or text.
	Shape func(sql string) Shape
}

// Statement is one that is to be run.
type Statement struct {
	Conn int    // the connection that it came on, from 1
	SQL  string // without comments, with one space between words
	Nth  int    // how often the same text has come, from 1
	Args []any  // of its placeholders, in the extended protocol
	// Settings are what the connection asked for when it began.
	Settings map[string]string
}

// Reply is what the server says to a statement. The zero Reply is success without rows.
type Reply struct {
	Code  string // SQLSTATE; the statement fails
	Fatal bool   // with Code: the session ends with it
	Cut   bool   // the connection ends without a word

	Columns []Column // of Rows; empty: those of the statement's Shape
	Rows    [][]any
	Tag     string // of the end of the command; empty: made from the statement and the number of rows
}

// Shape is what a prepared statement takes and returns.
type Shape struct {
	Params  []uint32 // type OIDs
	Columns []Column
}

// Column of a result.
type Column struct {
	Name string
	Type uint32 // OID
}

// Line is a statement as it was said.
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

// format is that of a column, by the protocol's rule: none said is text, one said is for all.
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
