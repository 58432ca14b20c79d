package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"sync"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/carve-ipam/carve/client"
)

// api is a client with the settings from one provider configuration.
type api struct {
	carve   *client.Carve
	project string
	owner   string
	open    bool // the default project becomes known only during apply

	mu  sync.Mutex
	who string
}

func (a *api) defaultProject() any {
	if a == nil || a.project == "" {
		return nil
	}
	return a.project
}

// inProject sets the provider's project in a configuration that has no project. If the provider has no project either, it adds an error and returns
// false.
func (a *api) inProject(config values, to *diag.Diagnostics) bool {
	if _, has := config["project"]; !has || config["project"] != nil {
		return true
	}
	if config["project"] = a.defaultProject(); config["project"] == nil {
		diagnose(to, kind{}, nil, errNoProject, "")
		return false
	}
	return true
}

// list reads a list page by page and yields its objects.
func (a *api) list(ctx context.Context, at string) iter.Seq2[document, error] {
	return func(yield func(document, error) bool) {
		for next := at; ; {
			page, err := a.call(ctx, http.MethodGet, next, "", nil)
			if err != nil {
				yield(nil, err)
				return
			}
			items, _ := page["items"].([]any)
			for _, item := range items {
				d, _ := item.(map[string]any)
				if !yield(d, nil) {
					return
				}
			}
			cursor := page.text("/nextCursor")
			if cursor == "" {
				return
			}
			next = queried(at, "cursor="+url.QueryEscape(cursor))
		}
	}
}

// subject returns the credential's subject. It asks the server once and caches the result.
func (a *api) subject(ctx context.Context) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.who == "" {
		me, err := a.carve.GetWhoami(ctx)
		if err != nil {
			return "", err
		}
		a.who = me.Subject
	}
	return a.who, nil
}

// call sends a request through the client, which retries where that is safe. tag is the If-Match header. If the method is PUT, the tag * means that
// the object must not exist yet.
func (a *api) call(ctx context.Context, method, path, tag string, body document) (document, error) {
	if a == nil {
		return nil, errors.New("the provider's server is known only after apply: set it to a known value, or first apply the resource that provides it (-target)")
	}
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(a.carve.Raw.Server, "/")+path, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	content, condition := "application/json", "If-Match"
	switch {
	case method == http.MethodPatch:
		content = "application/merge-patch+json"
	case method == http.MethodPut && tag == "*":
		condition = "If-None-Match"
	}
	req.Header.Set("Content-Type", content)
	if tag != "" {
		req.Header.Set(condition, tag)
	}
	resp, err := a.carve.Raw.Client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	d := document{}
	if resp.StatusCode == http.StatusNoContent {
		return d, nil
	}
	err = json.NewDecoder(resp.Body).Decode(&d)
	return d, err
}

// remove deletes an object. It succeeds if the object does not exist.
func (a *api) remove(ctx context.Context, path, tag string) error {
	if _, err := a.call(ctx, http.MethodDelete, path, tag, nil); err != nil && !client.IsNotFound(err) {
		return err
	}
	return nil
}

// collection returns the path of the collection that contains the object at a path.
func collection(path string) string { return path[:strings.LastIndex(path, "/")] }

// fetch reads an object.
func (k kind) fetch(ctx context.Context, a *api, v values) (document, error) {
	if k.lookup != nil {
		return k.lookup(ctx, a, v)
	}
	return a.call(ctx, http.MethodGet, k.at(v), "", nil)
}

// queried adds a parameter to a path's query.
func queried(path, parameter string) string {
	if strings.Contains(path, "?") {
		return path + "&" + parameter
	}
	return path + "?" + parameter
}

// difference returns the merge patch from one document to another. If they do not differ, it returns nil.
func difference(from, to document) (document, error) {
	before, err := json.Marshal(from)
	if err != nil {
		return nil, err
	}
	after, err := json.Marshal(to)
	if err != nil {
		return nil, err
	}
	text, err := jsonpatch.CreateMergePatch(before, after)
	if err != nil || string(text) == "{}" {
		return nil, err
	}
	patch := document{}
	err = json.Unmarshal(text, &patch)
	return patch, err
}
