package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"

	carve "github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/controller/internal/telemetry"
)

// connected declares the flags for the connection to Carve.
func (s *settings) connected(flag *flag.FlagSet) {
	flag.StringVar(&s.carve, "carve", "", "`URL` of Carve")
	flag.StringVar(&s.keyFile, "carve-key-file", "", "file with the API key; read again for each call")
	flag.StringVar(&s.caFile, "carve-ca-file", "", "PEM file of CA certificates used to verify Carve (default: system roots)")
	flag.StringVar(&s.clientCert, "carve-client-cert", "", "PEM file with the client certificate for Carve; read again for each connection")
	flag.StringVar(&s.clientKey, "carve-client-key", "", "PEM file with the client certificate's key")
	flag.BoolVar(&s.insecure, "carve-insecure-http", false, "send the key unencrypted to an http:// address on another machine")
}

// toCarve returns the client for Carve, and the transport that records its calls.
func (s *settings) toCarve() (*carve.Carve, *telemetry.Carve, error) {
	base, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return nil, nil, errors.New("the default HTTP transport is not Go's own")
	}
	transport := base.Clone()
	transport.MaxIdleConnsPerHost = s.workers + 2 // one connection for each worker, one for renewals and one for the feed
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if s.caFile != "" {
		text, err := os.ReadFile(s.caFile)
		if err != nil {
			return nil, nil, fmt.Errorf("--carve-ca-file: %w", err)
		}
		transport.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !transport.TLSClientConfig.RootCAs.AppendCertsFromPEM(text) {
			return nil, nil, fmt.Errorf("--carve-ca-file: %s has no certificate", s.caFile)
		}
	}
	if s.clientCert != "" {
		load := func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			pair, err := tls.LoadX509KeyPair(s.clientCert, s.clientKey)
			return &pair, err
		}
		if _, err := load(nil); err != nil {
			return nil, nil, fmt.Errorf("--carve-client-cert: %w", err)
		}
		transport.TLSClientConfig.GetClientCertificate = load
	}
	watched := &telemetry.Carve{Next: transport}
	options := []carve.Option{carve.WithUserAgent("carve-controller/" + version), carve.WithHTTP(&http.Client{Transport: watched})}
	if s.keyFile != "" {
		options = append(options, carve.WithTokenSource(keyFrom(s.keyFile)))
	}
	if s.insecure {
		options = append(options, carve.WithInsecureHTTP())
	}
	client, err := carve.New(s.carve, options...)
	if err != nil {
		return nil, nil, fmt.Errorf("--carve: %w", err)
	}
	return client, watched, nil
}
