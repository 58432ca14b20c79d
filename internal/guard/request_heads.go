package guard

import (
	"bytes"
	"io"
	"net"
	"strconv"
)

// requestHeads is an HTTP/1 connection without TLS that replaces ambiguous input. If two parsers could read a request's head differently, heads replaces the
// rest with bytes that the server refuses (400, and the connection ends). net/http accepts a line feed as the end of a line, and a line that begins
// with a blank as the rest of the line before it. With both a length and chunks, it uses the chunks and keeps the connection. A proxy in front that
// parses these differently would let one caller's bytes become another's request (RFC 9112, 2.2, 5.2 and 6.1).
//
// requestHeads does not check the bytes after a chunked request: Bodies closes the connection there.
type requestHeads struct {
	net.Conn
	scan headScan
	rest []byte // next bytes to read
}

// Read implements io.Reader.
func (h *requestHeads) Read(p []byte) (int, error) {
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

// refusedHead ends any line and any head in a way that every server refuses.
var refusedHead = []byte("\x00\r\n\x00\r\n\r\n")

// maxNote is the number of bytes kept from a line: more than the name and value of any Content-Length.
const maxNote = 64

// headScan finds the heads of requests in a connection's bytes, and their faults.
type headScan struct {
	passing bool  // no more heads follow
	bad     bool  // a fault was found; nothing more is read
	body    int64 // remaining bytes of a body

	lines   int // completed lines of this head
	column  int // in this line
	cr      bool
	note    []byte // start of this line
	old     bool   // HTTP/1.0
	length  bool
	chunked bool
	want    int64 // the Content-Length
}

// look returns the number of bytes that may be read: all, or those before a fault.
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

// middle consumes the bytes within a line, up to its possible end. It has the same effect as next for each byte.
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
	s.note = append(s.note, p[max(0, n-maxNote):n]...) // the scan needs the end of the first line
	s.note = s.note[:copy(s.note, s.note[max(0, len(s.note)-maxNote):])]
	return n
}

// next consumes one byte of a head. It returns false for a fault.
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
	s.note = append(s.note, b) // the first byte of its line: middle consumes the others
	return true
}

// endLine checks a complete line.
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

// header checks the fields that set the end of the body.
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

// endHead starts the part after a head.
func (s *headScan) endHead() bool {
	*s = headScan{passing: s.chunked, body: s.want, note: s.note[:0]}
	return true
}
