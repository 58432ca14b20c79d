package operate

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
)

const (
	serviceAccountDir = "/var/run/secrets/kubernetes.io/serviceaccount"
	secretKey         = "api-key" // the key in the Secret's data
	largestSecret     = 2 << 20
)

// secret is a Secret in the Kubernetes cluster in which this program runs as a pod. The pod needs the rights to get and patch that Secret.
type secret struct {
	url    string
	token  string
	client *http.Client
}

// secretData has the Secret's fields that this program uses.
type secretData struct {
	Metadata struct {
		ResourceVersion string `json:"resourceVersion,omitempty"`
	} `json:"metadata"`
	Data map[string][]byte `json:"data,omitempty"`
}

// openSecret finds the cluster as pods usually do, by two environment variables and the files of the pod's service account.
func (p *Operator) openSecret(name, dir string) (*secret, error) {
	host, port := p.Env("KUBERNETES_SERVICE_HOST"), p.Env("KUBERNETES_SERVICE_PORT")
	if host == "" || port == "" {
		return nil, exit.Usagef("--into-secret works only in a pod of a Kubernetes cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set")
	}
	files := map[string]string{}
	for _, file := range []string{"token", "namespace", "ca.crt"} {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			return nil, fmt.Errorf("cannot read the pod's service account: %w", err)
		}
		files[file] = strings.TrimSpace(string(text))
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(files["ca.crt"])) {
		return nil, fmt.Errorf("%s contains no certificate", filepath.Join(dir, "ca.crt"))
	}
	return &secret{
		url:   "https://" + net.JoinHostPort(host, port) + "/api/v1/namespaces/" + url.PathEscape(files["namespace"]) + "/secrets/" + url.PathEscape(name),
		token: files["token"],
		client: &http.Client{
			Timeout:   30 * time.Second,
			Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}},
		},
	}, nil
}

// ask sends a request about the Secret. It returns the Secret in the response.
func (s *secret) ask(ctx context.Context, method string, body any) (secretData, error) {
	var found secretData
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return found, err
		}
		sent = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, s.url, sent)
	if err != nil {
		return found, err
	}
	request.Header.Set("Authorization", "Bearer "+s.token)
	request.Header.Set("Content-Type", "application/merge-patch+json")
	response, err := s.client.Do(request)
	if err != nil {
		return found, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, largestSecret))
	if err != nil {
		return found, err
	}
	if response.StatusCode != http.StatusOK {
		var status struct{ Message string }
		_ = json.Unmarshal(text, &status) // without a status document, the error has only the HTTP status
		return found, fmt.Errorf("the cluster returned %s to %s of the Secret: %s", response.Status, method, status.Message)
	}
	err = json.Unmarshal(text, &found)
	return found, err
}

// bootstrapInto creates a key and writes it into the Secret. If the Secret already has a key, it changes nothing, so that it can run again.
func (p *Operator) bootstrapInto(ctx context.Context, s *secret, bootstrap func() (string, error)) error {
	found, err := s.ask(ctx, http.MethodGet, nil)
	if err != nil {
		return err
	}
	if len(found.Data[secretKey]) > 0 {
		p.Remark("The Secret has a key already: nothing changed.")
		return nil
	}
	made, err := bootstrap()
	if err != nil {
		return offline(err)
	}
	written := secretData{Data: map[string][]byte{secretKey: []byte(made)}}
	written.Metadata.ResourceVersion = found.Metadata.ResourceVersion // if the Secret has changed since the read, the cluster refuses this write
	if _, err := s.ask(ctx, http.MethodPatch, written); err != nil {
		return errors.Join(err, fmt.Errorf("the key %s was created, but its token is lost: revoke it (ipamctl key list -p platform)", session.Token(made).KeyID()))
	}
	p.Remark("The Secret contains the key %s, as %s.", session.Token(made).KeyID(), secretKey)
	return nil
}
