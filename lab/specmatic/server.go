package specmatic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/carve-ipam/carve/lab/apicall"
	"github.com/carve-ipam/carve/lab/serverproc"
)

// server is a process of cmd/server with a database of its own.
type server struct {
	*serverproc.Server
	api apicall.Caller
}

// start starts a server that asks for API keys and limits nobody, and waits for its address and the first key.
func start(ctx context.Context, binary, data, log string) (*server, error) {
	to, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer func() { _ = to.Close() }()
	s := &server{}
	if s.Server, err = serverproc.Start(ctx, serverproc.Options{
		Program: binary, Data: data, Log: to,
		Args: []string{"--auth=keys", "--rate-limit-reads=0", "--rate-limit-writes=0", "--rate-limit-work=0", "--rate-limit-project-work=0", "--rate-limit-anonymous=0", "--request-timeout=60s"},
	}); err != nil {
		return nil, err
	}
	s.api = apicall.Caller{URL: "http://" + s.Addr(), HTTP: &http.Client{Timeout: time.Minute}}
	if s.api.Key, err = s.AdminKey(ctx); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

type obj = map[string]any

// do sends a request that has to succeed.
func (s *server) do(ctx context.Context, method, path string, body any) (out obj, err error) {
	var raw []byte
	if body != nil {
		raw, _ = json.Marshal(body) //nolint:errchkjson // literals of this program
	}
	text, err := s.api.Do(ctx, method, path, string(raw))
	if err == nil && len(text) > 0 {
		err = json.Unmarshal(text, &out)
	}
	return out, err
}

// furnish makes one thing of each kind, and one that can be deleted where the first is in use. It answers their names, by the name of the
// parameter that they are for; of what can be deleted with "idle:" in front.
func (s *server) furnish(ctx context.Context) (map[string]string, error) {
	const team = "/v1/projects/team-a"
	var failed error
	send := func(method, path string, body any) obj {
		out, err := s.do(ctx, method, path, body)
		failed = errors.Join(failed, err)
		return out
	}
	named := func(name string, spec obj) obj {
		return obj{"metadata": obj{"name": name, "labels": obj{"env": "prod"}}, "spec": spec}
	}
	for _, name := range []string{"team-a", "team-idle"} {
		send(http.MethodPost, "/v1/projects", named(name, obj{}))
	}
	for _, name := range []string{"lab", "idle"} {
		send(http.MethodPost, team+"/spaces", named(name, obj{}))
		send(http.MethodPost, team+"/classes", named(name, obj{"ipFamily": "IPv4", "defaultPrefixLength": 28, "isDefault": name == "lab"}))
	}
	send(http.MethodPost, team+"/pools", named("lab", obj{"cidr": "10.20.0.0/16", "classNames": []string{"lab"}, "allocation": obj{"defaultPrefixLength": 28}}))
	send(http.MethodPost, team+"/pools", named("idle", obj{"cidr": "10.21.0.0/16"}))
	for _, of := range []string{"/pools/lab", "/spaces/lab"} {
		send(http.MethodPut, team+of+"/grants/team-idle", nil)
	}
	send(http.MethodPut, team+"/members/corp:alice@example.com", obj{"spec": obj{"role": "viewer"}})
	send(http.MethodPut, team+"/quotas/lab", obj{"spec": obj{"limits": obj{"claims": 400}}})
	send(http.MethodPost, team+"/api-keys", named("lab", obj{"role": "viewer"}))
	send(http.MethodPost, team+"/claims", named("lab", obj{"poolRef": obj{"name": "lab"}}))
	kept := send(http.MethodPost, team+"/claims", named("kept", obj{"poolRef": obj{"name": "lab"}, "reclaimPolicy": "Retain"}))
	send(http.MethodDelete, team+"/claims/kept", nil)
	if failed != nil {
		return nil, failed
	}
	status, _ := kept["status"].(obj)
	ref, _ := status["allocationRef"].(obj)
	allocation, _ := ref["name"].(string)
	return map[string]string{
		"project": "team-a", "space": "lab", "class": "lab", "pool": "lab", "claim": "lab", "consumer": "team-idle", "quota": "lab", "key": "lab",
		"subject": "corp:alice@example.com", "allocation": allocation, "idle:project": "team-idle", "idle:space": "idle", "idle:class": "idle", "idle:pool": "idle",
	}, nil
}

// claims is what is held, as text: dry runs leave it as it is.
func (s *server) claims(ctx context.Context) (string, error) {
	var out []string
	for _, list := range []string{"projects", "projects/team-a/spaces", "projects/team-a/classes", "projects/team-a/pools", "projects/team-a/claims", "projects/team-a/allocations"} {
		page, err := s.do(ctx, http.MethodGet, "/v1/"+list, nil)
		if err != nil {
			return "", err
		}
		items, _ := page["items"].([]any)
		out = append(out, fmt.Sprintf("%s %d", list, len(items)))
	}
	return strings.Join(out, ", "), nil
}
