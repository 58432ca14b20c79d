package devca_test

import (
	"crypto/tls"
	"crypto/x509"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/testkit/devca"
)

func TestCertificatesAreValidOnlyForTheirPurpose(t *testing.T) {
	t.Parallel()
	ca, err := devca.New("the right one")
	require.NoError(t, err)
	other, err := devca.New("another")
	require.NoError(t, err)
	issue := func(l devca.Leaf) *x509.Certificate {
		certificate, key, err := ca.Issue(l)
		require.NoError(t, err)
		pair, err := tls.X509KeyPair(certificate, key)
		require.NoError(t, err)
		return pair.Leaf
	}
	leaf := issue(devca.Leaf{Name: "carve", Hosts: []string{"localhost", "127.0.0.1"}})
	for _, host := range []string{"localhost", "127.0.0.1"} {
		_, err = leaf.Verify(x509.VerifyOptions{Roots: ca.Pool(), DNSName: host})
		require.NoError(t, err)
	}
	_, err = leaf.Verify(x509.VerifyOptions{Roots: ca.Pool(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	require.NoError(t, err)
	_, err = leaf.Verify(x509.VerifyOptions{Roots: other.Pool()})
	require.ErrorContains(t, err, "unknown authority")
	_, err = leaf.Verify(x509.VerifyOptions{Roots: ca.Pool(), DNSName: "elsewhere"})
	require.Error(t, err)
	_, err = issue(devca.Leaf{Name: "late", NotAfter: time.Now().Add(-time.Minute)}).Verify(x509.VerifyOptions{Roots: ca.Pool()})
	require.ErrorContains(t, err, "expired")

	read := x509.NewCertPool()
	require.True(t, read.AppendCertsFromPEM(ca.PEM()))
	_, err = leaf.Verify(x509.VerifyOptions{Roots: read})
	require.NoError(t, err)
}
