package transfer

import (
	"io"
	"sync"
)

// locked is a writer that several goroutines can use at the same time.
type locked struct {
	mu sync.Mutex
	to io.Writer
}

// Write implements io.Writer.
func (l *locked) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to.Write(text)
}
