package source

import (
	"bufio"
	"io"
)

// carriageReturns rewrites a table's carriage returns for Go's CSV reader. That reader treats a carriage return before a line feed as a part of the
// line's end.
type carriageReturns struct {
	from *bufio.Reader
	own  bool // double each CR before an LF, because lines of ipamctl's export end in LF; otherwise each CR ends a line
	more bool // write one more carriage return
}

// Read implements io.Reader.
func (c *carriageReturns) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if c.more {
			p[n], c.more = '\r', false
			n++
			continue
		}
		b, err := c.from.ReadByte()
		if err != nil {
			if n > 0 {
				return n, nil
			}
			return 0, err
		}
		switch {
		case b == '\r' && !c.own:
			b = '\n'
		case b == '\r':
			next, err := c.from.Peek(1)
			c.more = err == nil && next[0] == '\n'
		}
		p[n] = b
		n++
	}
	return n, nil
}

var _ io.Reader = (*carriageReturns)(nil)
