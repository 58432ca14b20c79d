package guard

import (
	"bytes"
	"io"
	"net"
	"strconv"
)

// heads is a connection that speaks HTTP/1 without TLS, as the server reads it: what two readers could understand differently in the head of a
// request is replaced by what the server refuses (400, and the connection ends). net/http takes a line feed for the end of a line, and a line
// that begins with a blank for the rest of the one before it; of a length beside chunks it takes the chunks, and goes on with the connection.
// A proxy in front that reads them otherwise would let one caller's bytes become another's request (RFC 9112, 2.2, 5.2 and 6.1).
//
// What is behind a request with chunks is not looked at: Bodies sees to it that the connection ends there.
type heads struct {
	net.Conn
	scan headScan
	rest []byte // to be read before anything else
}

// Read implements io.Reader.
func (h *heads) Read(p []byte) (int, error) {
	if len(h.rest) > 0 {
		n := copy(p, h.rest)
		h.rest = h.rest[n:]
		return n, nil
	}
	if h.scan.bad {
		return 0, io.EOF
	}
	n, err := h.Conn.Read(p)
	good := h.scan.look(p[:n])
	if good == n {
		return n, err
	}
	given := copy(p[good:], refusedHead)
	h.rest = refusedHead[given:]
	return good + given, nil
}

// refusedHead ends any line, and any head, in a way that no server takes.
var refusedHead = []byte("\x00\r\n\x00\r\n\r\n")

// maxNote is how much of a line is kept to be looked at: more than the name and value of any length.
const maxNote = 64

// headScan finds the heads of requests in what comes over a connection, and what is wrong in them.
type headScan struct {
	passing bool  // what comes is no head any more
	bad     bool  // and nothing else is to be read
	body    int64 // bytes that are left of a body

	lines   int // that have ended in this head
	column  int // in this line
	cr      bool
	note    []byte // how this line begins
	old     bool   // HTTP/1.0
	length  bool
	chunked bool
	want    int64 // the length
}

// look answers how many of some bytes may be read: all of them, or those before what is wrong.
func (s *headScan) look(p []byte) (good int) {
	for at := 0; at < len(p); {
		switch {
		case s.bad:
			return at
		case s.passing:
			return len(p)
		case s.body > 0:
			n := min(s.body, int64(len(p)-at))
			s.body -= n
			at += int(n)
			continue
		}
		if n := s.middle(p[at:]); n > 0 {
			at += n
			continue
		}
		if s.bad = !s.next(p[at]); s.bad {
			return at
		}
		at++
	}
	return len(p)
}

// middle takes what is within a line, up to where it may end. It does so at once, as next would byte by byte.
func (s *headScan) middle(p []byte) (n int) {
	if s.column == 0 || s.cr {
		return 0
	}
	if n = bytes.IndexByte(p, '\r'); n < 0 {
		n = len(p)
	}
	if end := bytes.IndexByte(p[:n], '\n'); end >= 0 {
		n = end
	}
	s.column += n
	if s.lines > 0 {
		s.note = append(s.note, p[:min(n, maxNote-len(s.note))]...)
		return n
	}
	s.note = append(s.note, p[max(0, n-maxNote):n]...) // of the first line the end is wanted
	s.note = s.note[:copy(s.note, s.note[max(0, len(s.note)-maxNote):])]
	return n
}

// next takes one byte of a head; false: it is wrong.
func (s *headScan) next(b byte) bool {
	switch {
	case b == '\n':
		return s.cr && s.endLine()
	case s.cr:
		return false
	case b == '\r':
		s.cr = true
		return true
	case s.column == 0 && s.lines > 0 && (b == ' ' || b == '\t'):
		return false
	}
	s.column++
	s.note = append(s.note, b) // the first of its line: middle takes the others
	return true
}

// endLine looks at a line that is complete.
func (s *headScan) endLine() bool {
	empty := s.column == 0
	switch {
	case empty && s.lines == 0: // between requests; the server skips it
	case empty:
		return s.endHead()
	case s.lines == 0:
		s.old = bytes.HasSuffix(s.note, []byte(" HTTP/1.0"))
		s.lines++
	default:
		s.lines++
		if !s.header() {
			return false
		}
	}
	s.note, s.column, s.cr = s.note[:0], 0, false
	return true
}

// header looks at a field that says where the body ends.
func (s *headScan) header() bool {
	name, value, _ := bytes.Cut(s.note, []byte(":"))
	switch {
	case bytes.EqualFold(bytes.TrimSpace(name), []byte("transfer-encoding")):
		s.chunked = true
	case bytes.EqualFold(bytes.TrimSpace(name), []byte("content-length")):
		n, err := strconv.ParseUint(string(bytes.TrimSpace(value)), 10, 63)
		if err != nil || s.column > maxNote || s.length && s.want != int64(n) {
			return false
		}
		s.length, s.want = true, int64(n)
	}
	return !s.chunked || !s.length && !s.old
}

// endHead begins what follows a head.
func (s *headScan) endHead() bool {
	*s = headScan{passing: s.chunked, body: s.want, note: s.note[:0]}
	return true
}
