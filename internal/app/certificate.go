package app

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// lookAgain is how often the files of a certificate are looked at, at most.
const lookAgain = 10 * time.Second

// certificate is the server's, from two files. They are read again when they have changed, so that a renewed certificate
// needs no new start. While what they hold is not a certificate with its key, the last good one is served.
type certificate struct {
	certFile, keyFile string
	log               *slog.Logger
	clock             func() time.Time

	mu     sync.Mutex
	loaded *tls.Certificate
	stamps [2]stamp
	looked time.Time
}

// stamp tells one version of a file from another.
type stamp struct {
	changed time.Time
	size    int64
}

// newCertificate reads the files.
func newCertificate(certFile, keyFile string, log *slog.Logger, clock func() time.Time) (*certificate, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile, log: log, clock: clock}
	c.looked = clock()
	if err := c.read(); err != nil {
		return nil, fmt.Errorf("--tls-cert, --tls-key: %w", err)
	}
	return c, nil
}

// get is tls.Config.GetCertificate.
func (c *certificate) get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.clock(); now.Sub(c.looked) >= lookAgain {
		c.looked = now
		if err := c.read(); err != nil {
			c.log.WarnContext(hello.Context(), "the renewed certificate cannot be used; serving the last one", "error", err)
		}
	}
	return c.loaded, nil
}

// read loads the files if they have changed since they were loaded last.
func (c *certificate) read() error {
	var stamps [2]stamp
	for i, name := range []string{c.certFile, c.keyFile} {
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		stamps[i] = stamp{info.ModTime(), info.Size()}
	}
	if c.loaded != nil && stamps == c.stamps {
		return nil
	}
	loaded, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return err
	}
	c.loaded, c.stamps = &loaded, stamps
	return nil
}
