package guard

import (
	"bytes"
	"io"
	"net"
	"strconv"
)

// requestHeads is an HTTP/1 connection without TLS that stops ambiguous input. If two parsers could read a request's head differently, requestHeads
// replaces all further input with bytes that the server refuses. The server then returns 400 and closes the connection.
//
// net/http accepts a line feed alone as a line end. If a line begins with a blank, it accepts the line as a continuation. If a request has both a
// length and chunks, net/http uses the chunks and keeps the connection. A proxy in front of the server may parse such input differently. Then one
// caller's bytes could become another caller's request (RFC 9112, 2.2, 5.2 and 6.1).
//
// requestHeads does not check the bytes after a chunked request, because Bodies closes the connection after such a request.
type requestHeads struct {
	net.Conn
	scan headScan
	rest []byte // refusedHead's bytes that Read has not returned yet
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
	copied := copy(p[good:], refusedHead)
	h.rest = refusedHead[copied:]
	return good + copied, nil
}

// refusedHead ends any line and any head in a way that every server refuses.
var refusedHead = []byte("\x00\r\n\x00\r\n\r\n")

// maxNote is the number of bytes that the scan keeps of a line. The name and value of any valid Content-Length are shorter.
const maxNote = 64

// headScan finds request heads in a connection's bytes, and finds faults in the heads.
type headScan struct {
	passing bool  // after a chunked request, the scan passes on all bytes
	bad     bool  // a fault was found; all later bytes are dropped
	body    int64 // remaining bytes in the current body

	lines   int // complete lines in the current head
	column  int // bytes in the current line
	cr      bool
	note    []byte // the current line's kept part
	old     bool   // the request is HTTP/1.0
	length  bool
	chunked bool
	want    int64 // the Content-Length
}

// look returns the number of bytes in p that the server may read: all bytes, or the bytes before a fault.
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
		if n := s.consumeRun(p[at:]); n > 0 {
			at += n
			continue
		}
		if s.bad = !s.consumeByte(p[at]); s.bad {
			return at
		}
		at++
	}
	return len(p)
}

// consumeRun consumes the bytes inside a line, up to the next carriage return or line feed. It has the same effect as consumeByte for each byte, but
// is faster.
func (s *headScan) consumeRun(p []byte) (n int) {
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
	s.note = append(s.note, p[max(0, n-maxNote):n]...) // the scan needs the first line's end
	s.note = s.note[:copy(s.note, s.note[max(0, len(s.note)-maxNote):])]
	return n
}

// consumeByte consumes one byte in a head. It returns false if the byte is a fault.
func (s *headScan) consumeByte(b byte) bool {
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
	s.note = append(s.note, b) // only a line's first byte; consumeRun consumes the others
	return true
}

// endLine checks a complete line.
func (s *headScan) endLine() bool {
	empty := s.column == 0
	switch {
	case empty && s.lines == 0: // an empty line before a request, which the server skips
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

// header checks the header fields that decide where the body ends.
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

// endHead resets the scan when a head ends. The body follows, if there is one.
func (s *headScan) endHead() bool {
	*s = headScan{passing: s.chunked, body: s.want, note: s.note[:0]}
	return true
}
