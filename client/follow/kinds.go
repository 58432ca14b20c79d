package follow

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/client"
)

// Pools follows a project's pools that match a label selector. An empty selector matches all pools.
func Pools(c *client.Carve, project string, labelSelector string) Source[client.IPPool] {
	return sourceOf(c, project, client.ChangeKindIPPool, labelSelector, func(a *client.IPPool) string { return a.Metadata.Name },
		func(ctx context.Context, at *client.Cursor) (*http.Response, error) {
			return c.Raw.ListPools(ctx, project, &client.ListPoolsParams{Cursor: at, LabelSelector: optional(labelSelector)})
		})
}

// Claims follows a project's claims that match a label selector. An empty selector matches all claims.
func Claims(c *client.Carve, project string, labelSelector string) Source[client.IPClaim] {
	return sourceOf(c, project, client.ChangeKindIPClaim, labelSelector, func(a *client.IPClaim) string { return a.Metadata.Name },
		func(ctx context.Context, at *client.Cursor) (*http.Response, error) {
			return c.Raw.ListClaims(ctx, project, &client.ListClaimsParams{Cursor: at, LabelSelector: optional(labelSelector)})
		})
}

// Classes follows a project's classes that match a label selector. An empty selector matches all classes.
func Classes(c *client.Carve, project string, labelSelector string) Source[client.IPClass] {
	return sourceOf(c, project, client.ChangeKindIPClass, labelSelector, func(a *client.IPClass) string { return a.Metadata.Name },
		func(ctx context.Context, at *client.Cursor) (*http.Response, error) {
			return c.Raw.ListClasses(ctx, project, &client.ListClassesParams{Cursor: at, LabelSelector: optional(labelSelector)})
		})
}

// Quotas follows a project's quotas.
func Quotas(c *client.Carve, project string) Source[client.Quota] {
	return sourceOf(c, project, client.ChangeKindQuota, "", func(a *client.Quota) string { return a.Metadata.Name },
		func(ctx context.Context, at *client.Cursor) (*http.Response, error) {
			return c.Raw.ListQuotas(ctx, project, &client.ListQuotasParams{Cursor: at})
		})
}

// Allocations follows the allocations that a project holds. An allocation's name is its UID.
func Allocations(c *client.Carve, project string) Source[client.IPAllocation] {
	return sourceOf(c, project, client.ChangeKindIPAllocation, "", func(a *client.IPAllocation) string { return a.Metadata.UID },
		func(ctx context.Context, at *client.Cursor) (*http.Response, error) {
			return c.Raw.ListAllocations(ctx, project, &client.ListAllocationsParams{Cursor: at, Holder: new(client.AllocationHolderSelf)})
		})
}

// Consumers follows a realm's consumers, including ended consumers. A consumer's name is realm/uid.
func Consumers(c *client.Carve, project, realm string) Source[client.IPConsumer] {
	inRealm := realm + "/"
	s := sourceOf(c, project, client.ChangeKindIPConsumer, "", func(a *client.IPConsumer) string { return inRealm + a.Metadata.Name },
		func(ctx context.Context, at *client.Cursor) (*http.Response, error) {
			return c.Raw.ListConsumers(ctx, project, realm, &client.ListConsumersParams{Cursor: at})
		})
	changes := s.Changes
	s.Changes = func(ctx context.Context, after client.ChangesCursor, seconds int) (*client.ChangeList, error) {
		list, err := changes(ctx, after, seconds)
		if err == nil {
			list.Items = slices.DeleteFunc(list.Items, func(a client.Change) bool { return !strings.HasPrefix(a.Name, inRealm) })
		}
		return list, err
	}
	return s
}

// sourceOf returns a Source for the objects of one kind that match a label selector. list requests a page.
func sourceOf[T any](
	c *client.Carve, project string, kind client.ChangeKind, labels string, name func(*T) string,
	list func(ctx context.Context, at *client.Cursor) (*http.Response, error),
) Source[T] {
	return Source[T]{
		Name: name,
		List: func(ctx context.Context, at *client.Cursor) (page Page[T], _ error) {
			resp, err := list(ctx, at)
			if err != nil {
				return page, err
			}
			defer func() { _ = resp.Body.Close() }()
			if err := json.NewDecoder(resp.Body).Decode(&page); err != nil {
				return page, fmt.Errorf("client: the answer to GET %s: %w", resp.Request.URL.Path, err)
			}
			return page, nil
		},
		Changes: func(ctx context.Context, after client.ChangesCursor, seconds int) (*client.ChangeList, error) {
			return c.ListChanges(ctx, project, client.ListChangesParams{
				After: &after, ResourceKind: client.ChangeKindsFilter{kind}, LabelSelector: optional(labels), WaitSeconds: &seconds,
			})
		},
	}
}

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
