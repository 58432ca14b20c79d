package app

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// writeCertificate writes a certificate for loopback and its key, and returns the certificate.
func writeCertificate(t *testing.T, certFile, keyFile, name string) *x509.Certificate {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	require.NoError(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	require.NoError(t, os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
	made, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return made
}

func TestCertificateIsReloadedWhenItsFilesChange(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	var logs bytes.Buffer
	now := time.Unix(1_800_000_000, 0)
	log := slog.New(slog.NewTextHandler(&logs, nil))
	clock := func() time.Time { return now }
	_, err := newCertificate(certFile, keyFile, log, clock)
	require.ErrorContains(t, err, "--tls-cert", "no files, no start")

	writeCertificate(t, certFile, keyFile, "first")
	c, err := newCertificate(certFile, keyFile, log, clock)
	require.NoError(t, err)
	served := func() string { return c.get(t.Context()).Leaf.Subject.CommonName }
	require.Equal(t, "first", served())

	writeCertificate(t, certFile, keyFile, "the second one")
	require.Equal(t, "first", served(), "the files are not looked at for each connection")
	now = now.Add(checkInterval)
	require.Equal(t, "the second one", served())

	require.NoError(t, os.WriteFile(keyFile, []byte("half a key"), 0o600))
	now = now.Add(checkInterval)
	require.Equal(t, "the second one", served(), "the last good one")
	require.Contains(t, logs.String(), "cannot use the renewed files")
	writeCertificate(t, certFile, keyFile, "third")
	now = now.Add(checkInterval)
	require.Equal(t, "third", served(), "it is tried again")
}
