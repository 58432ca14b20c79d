// Package devca makes certificate authorities for tests, and for tools that measure a server over TLS. The keys exist only in the process that made
// them. Do not trust these authorities outside tests.
package devca

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"time"
)

// CA is an authority with its key.
type CA struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// Leaf describes a certificate to issue.
type Leaf struct {
	Name     string    // the common name: a client's user in PostgreSQL
	Hosts    []string  // names and addresses of a server
	NotAfter time.Time // zero: an hour from now
}

// skew is the time from the start of a certificate's validity to its creation, for machines with slow clocks.
const skew = time.Hour

const day = 24 * time.Hour

// New makes an authority that is valid for a day.
func New(name string) (*CA, error) { return NewUntil(name, time.Now().Add(day)) }

// NewUntil makes an authority that is valid until notAfter.
func NewUntil(name string, notAfter time.Time) (*CA, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template, err := template(name, notAfter)
	if err != nil {
		return nil, err
	}
	template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	made, err := x509.ParseCertificate(der)
	return &CA{certificate: made, key: key}, err
}

// PEM returns the authority's certificate, for the files of programs that trust it.
func (a *CA) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw})
}

// Pool returns the authority's certificate for crypto/tls.
func (a *CA) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	return pool
}

// Issue makes a certificate for servers and clients and its key, both in PEM.
func (a *CA) Issue(l Leaf) (certificate, key []byte, err error) {
	if l.NotAfter.IsZero() {
		l.NotAfter = time.Now().Add(time.Hour)
	}
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template, err := template(l.Name, l.NotAfter)
	if err != nil {
		return nil, nil, err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	for _, host := range l.Hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, private.Public(), a.key)
	if err != nil {
		return nil, nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), nil
}

func template(name string, notAfter time.Time) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	from := time.Now()
	if was := notAfter.Add(-day); was.Before(from) { // an expired certificate was valid before
		from = was
	}
	return &x509.Certificate{SerialNumber: serial, Subject: pkix.Name{CommonName: name}, NotBefore: from.Add(-skew), NotAfter: notAfter}, nil
}
