package follow

import (
	"context"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/client"
)

// Pools follows a project's pools that match a label selector. An empty selector matches all pools.
func Pools(c *client.Carve, project string, labelSelector string) Source[client.IPPool] {
	return Source[client.IPPool]{
		Name: func(a *client.IPPool) string { return a.Metadata.Name }, Changes: changesOf(c, project, client.ChangeKindIPPool, labelSelector),
		List: func(ctx context.Context, at *client.Cursor) (Page[client.IPPool], error) {
			got, err := c.ListPools(ctx, project, client.ListPoolsParams{Cursor: at, LabelSelector: optional(labelSelector)})
			if err != nil {
				return Page[client.IPPool]{}, err
			}
			return Page[client.IPPool]{got.Items, got.NextCursor, got.ChangesCursor}, nil
		},
	}
}

// Claims follows a project's claims that match a label selector. An empty selector matches all claims.
func Claims(c *client.Carve, project string, labelSelector string) Source[client.IPClaim] {
	return Source[client.IPClaim]{
		Name: func(a *client.IPClaim) string { return a.Metadata.Name }, Changes: changesOf(c, project, client.ChangeKindIPClaim, labelSelector),
		List: func(ctx context.Context, at *client.Cursor) (Page[client.IPClaim], error) {
			got, err := c.ListClaims(ctx, project, client.ListClaimsParams{Cursor: at, LabelSelector: optional(labelSelector)})
			if err != nil {
				return Page[client.IPClaim]{}, err
			}
			return Page[client.IPClaim]{got.Items, got.NextCursor, got.ChangesCursor}, nil
		},
	}
}

// Classes follows a project's classes that match a label selector. An empty selector matches all classes.
func Classes(c *client.Carve, project string, labelSelector string) Source[client.IPClass] {
	return Source[client.IPClass]{
		Name: func(a *client.IPClass) string { return a.Metadata.Name }, Changes: changesOf(c, project, client.ChangeKindIPClass, labelSelector),
		List: func(ctx context.Context, at *client.Cursor) (Page[client.IPClass], error) {
			got, err := c.ListClasses(ctx, project, client.ListClassesParams{Cursor: at, LabelSelector: optional(labelSelector)})
			if err != nil {
				return Page[client.IPClass]{}, err
			}
			return Page[client.IPClass]{got.Items, got.NextCursor, got.ChangesCursor}, nil
		},
	}
}

// Quotas follows a project's quotas.
func Quotas(c *client.Carve, project string) Source[client.Quota] {
	return Source[client.Quota]{
		Name: func(a *client.Quota) string { return a.Metadata.Name }, Changes: changesOf(c, project, client.ChangeKindQuota, ""),
		List: func(ctx context.Context, at *client.Cursor) (Page[client.Quota], error) {
			got, err := c.ListQuotas(ctx, project, client.ListQuotasParams{Cursor: at})
			if err != nil {
				return Page[client.Quota]{}, err
			}
			return Page[client.Quota]{got.Items, got.NextCursor, got.ChangesCursor}, nil
		},
	}
}

// Allocations follows the allocations that a project holds. An allocation's name is its UID.
func Allocations(c *client.Carve, project string) Source[client.IPAllocation] {
	self := client.AllocationHolderSelf
	return Source[client.IPAllocation]{
		Name: func(a *client.IPAllocation) string { return a.Metadata.UID }, Changes: changesOf(c, project, client.ChangeKindIPAllocation, ""),
		List: func(ctx context.Context, at *client.Cursor) (Page[client.IPAllocation], error) {
			got, err := c.ListAllocations(ctx, project, client.ListAllocationsParams{Cursor: at, Holder: &self})
			if err != nil {
				return Page[client.IPAllocation]{}, err
			}
			return Page[client.IPAllocation]{got.Items, got.NextCursor, got.ChangesCursor}, nil
		},
	}
}

// Consumers follows a realm's consumers, including ended consumers. A consumer's name is realm/uid.
func Consumers(c *client.Carve, project, realm string) Source[client.IPConsumer] {
	changes, inRealm := changesOf(c, project, client.ChangeKindIPConsumer, ""), realm+"/"
	return Source[client.IPConsumer]{
		Name: func(a *client.IPConsumer) string { return inRealm + a.Metadata.Name },
		Changes: func(ctx context.Context, after client.ChangesCursor, seconds int) (*client.ChangeList, error) {
			list, err := changes(ctx, after, seconds)
			if err == nil {
				list.Items = slices.DeleteFunc(list.Items, func(a client.Change) bool { return !strings.HasPrefix(a.Name, inRealm) })
			}
			return list, err
		},
		List: func(ctx context.Context, at *client.Cursor) (Page[client.IPConsumer], error) {
			got, err := c.ListConsumers(ctx, project, realm, client.ListConsumersParams{Cursor: at})
			if err != nil {
				return Page[client.IPConsumer]{}, err
			}
			return Page[client.IPConsumer]{got.Items, got.NextCursor, got.ChangesCursor}, nil
		},
	}
}

// changesOf returns a function that requests the changes to the objects of one kind that match a label selector.
func changesOf(
	c *client.Carve, project string, kind client.ChangeKind, labels string,
) func(ctx context.Context, after client.ChangesCursor, seconds int) (*client.ChangeList, error) {
	return func(ctx context.Context, after client.ChangesCursor, seconds int) (*client.ChangeList, error) {
		return c.ListChanges(ctx, project, client.ListChangesParams{
			After: &after, ResourceKind: client.ChangeKindsFilter{kind}, LabelSelector: optional(labels), WaitSeconds: &seconds,
		})
	}
}

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
