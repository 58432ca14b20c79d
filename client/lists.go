package client

import (
	"context"
	"iter"
)

// The methods in this file return each list of the contract as a sequence: for pool, err := range c.Pools(ctx, "team-a"). The optional parameters
// have the filters and the page size. The methods do not change the parameters. A sequence ends at the end of the list or after the first error. Each
// range over a sequence starts at its first item again.

// Projects lists the projects in which the caller has a role.
func (c *Carve) Projects(ctx context.Context, params ...ListProjectsParams) iter.Seq2[Project, error] {
	p := valueOf(params)
	return pages(p.Limit, p.Cursor, func(at place) ([]Project, NextCursor, error) {
		p.Limit, p.Cursor = at.limit, at.cursor
		answer, err := c.ListProjects(ctx, p)
		if err != nil {
			return nil, "", err
		}
		return answer.Items, answer.NextCursor, nil
	})
}

// Members lists a project's members with their roles.
func (c *Carve) Members(ctx context.Context, project string, params ...ListMembersParams) iter.Seq2[Member, error] {
	p := valueOf(params)
	return pages(p.Limit, p.Cursor, func(at place) ([]Member, NextCursor, error) {
		p.Limit, p.Cursor = at.limit, at.cursor
		answer, err := c.ListMembers(ctx, project, p)
		if err != nil {
			return nil, "", err
		}
		return answer.Items, answer.NextCursor, nil
	})
}

// APIKeys lists a project's API keys without their secrets.
func (c *Carve) APIKeys(ctx context.Context, project string, params ...ListAPIKeysParams) iter.Seq2[APIKey, error] {
	p := valueOf(params)
	return pages(p.Limit, p.Cursor, func(at place) ([]APIKey, NextCursor, error) {
		p.Limit, p.Cursor = at.limit, at.cursor
		answer, err := c.ListAPIKeys(ctx, project, p)
		if err != nil {
			return nil, "", err
		}
		return answer.Items, answer.NextCursor, nil
	})
}

// Quotas lists a project's quotas.
func (c *Carve) Quotas(ctx context.Context, project string, params ...ListQuotasParams) iter.Seq2[Quota, error] {
	p := valueOf(params)
	return pages(p.Limit, p.Cursor, func(at place) ([]Quota, NextCursor, error) {
		p.Limit, p.Cursor = at.limit, at.cursor
		answer, err := c.ListQuotas(ctx, project, p)
		if err != nil {
			return nil, "", err
		}
		return answer.Items, answer.NextCursor, nil
	})
}

// ScopePools lists the pools that serve a project's claims of a class, with one pool for each scope.
func (c *Carve) ScopePools(ctx context.Context, project, class string, params ...ListScopePoolsParams) iter.Seq2[IPPool, error] {
	p := valueOf(params)
	return pages(p.Limit, p.Cursor, func(at place) ([]IPPool, NextCursor, error) {
		p.Limit, p.Cursor = at.limit, at.cursor
		answer, err := c.ListScopePools(ctx, project, class, p)
		if err != nil {
			return nil, "", err
		}
		return answer.Items, answer.NextCursor, nil
	})
}

// Spaces lists a project's spaces.
func (c *Carve) Spaces(ctx context.Context, project string, params ...ListSpacesParams) iter.Seq2[Space, error] {
	p := valueOf(params)
	return pages(p.Limit, p.Cursor, func(at place) ([]Space, NextCursor, error) {
		p.Limit, p.Cursor = at.limit, at.cursor
		answer, err := c.ListSpaces(ctx, project, p)
		if err != nil {
			return nil, "", err
		}
		return answer.Items, answer.NextCursor, nil
	})
}

// SpaceGrants lists a space's grants. A grant lets another project carve root pools from the space.
func (c *Carve) SpaceGrants(ctx context.Context, project string, space string, params ...ListSpaceGrantsParams) iter.Seq2[Grant, error] {
	p := valueOf(params)
	return pages(p.Limit, p.Cursor, func(at place) ([]Grant, NextCursor, error) {
		p.Limit, p.Cursor = at.limit, at.cursor
		answer, err := c.ListSpaceGrants(ctx, project, space, p)
		if err != nil {
			return nil, "", err
		}
		return answer.Items, answer.NextCursor, nil
	})
}

// Pools lists a project's pools.
func (c *Carve) Pools(ctx context.Context, project string, params ...ListPoolsParams) iter.Seq2[IPPool, error] {
	p := valueOf(params)
	return pages(p.Limit, p.Cursor, func(at place) ([]IPPool, NextCursor, error) {
		p.Limit, p.Cursor = at.limit, at.cursor
		answer, err := c.ListPools(ctx, project, p)
		if err != nil {
			return nil, "", err
		}
		return answer.Items, answer.NextCursor, nil
	})
}

// PoolGrants lists a pool's grants. A grant lets another project use the pool.
func (c *Carve) PoolGrants(ctx context.Context, project string, pool string, params ...ListPoolGrantsParams) iter.Seq2[Grant, error] {
	p := valueOf(params)
	return pages(p.Limit, p.Cursor, func(at place) ([]Grant, NextCursor, error) {
		p.Limit, p.Cursor = at.limit, at.cursor
		answer, err := c.ListPoolGrants(ctx, project, pool, p)
		if err != nil {
			return nil, "", err
		}
		return answer.Items, answer.NextCursor, nil
	})
}

// FreeBlocks lists a pool's free blocks in address order.
func (c *Carve) FreeBlocks(ctx context.Context, project string, pool string, params ...GetPoolFreeParams) iter.Seq2[FreeBlock, error] {
	p := valueOf(params)
	return pages(p.Limit, p.Cursor, func(at place) ([]FreeBlock, NextCursor, error) {
		p.Limit, p.Cursor = at.limit, at.cursor
		answer, err := c.GetPoolFree(ctx, project, pool, p)
		if err != nil {
			return nil, "", err
		}
		return answer.Items, answer.NextCursor, nil
	})
}

// Classes lists a project's classes.
func (c *Carve) Classes(ctx context.Context, project string, params ...ListClassesParams) iter.Seq2[IPClass, error] {
	p := valueOf(params)
	return pages(p.Limit, p.Cursor, func(at place) ([]IPClass, NextCursor, error) {
		p.Limit, p.Cursor = at.limit, at.cursor
		answer, err := c.ListClasses(ctx, project, p)
		if err != nil {
			return nil, "", err
		}
		return answer.Items, answer.NextCursor, nil
	})
}

// Claims lists a project's claims.
func (c *Carve) Claims(ctx context.Context, project string, params ...ListClaimsParams) iter.Seq2[IPClaim, error] {
	p := valueOf(params)
	return pages(p.Limit, p.Cursor, func(at place) ([]IPClaim, NextCursor, error) {
		p.Limit, p.Cursor = at.limit, at.cursor
		answer, err := c.ListClaims(ctx, project, p)
		if err != nil {
			return nil, "", err
		}
		return answer.Items, answer.NextCursor, nil
	})
}

// Allocations lists the allocations that a project may see.
func (c *Carve) Allocations(ctx context.Context, project string, params ...ListAllocationsParams) iter.Seq2[IPAllocation, error] {
	p := valueOf(params)
	return pages(p.Limit, p.Cursor, func(at place) ([]IPAllocation, NextCursor, error) {
		p.Limit, p.Cursor = at.limit, at.cursor
		answer, err := c.ListAllocations(ctx, project, p)
		if err != nil {
			return nil, "", err
		}
		return answer.Items, answer.NextCursor, nil
	})
}

// AuditEvents lists a project's audit trail, newest first.
func (c *Carve) AuditEvents(ctx context.Context, project string, params ...ListAuditEventsParams) iter.Seq2[AuditEvent, error] {
	p := valueOf(params)
	return pages(p.Limit, p.Cursor, func(at place) ([]AuditEvent, NextCursor, error) {
		p.Limit, p.Cursor = at.limit, at.cursor
		answer, err := c.ListAuditEvents(ctx, project, p)
		if err != nil {
			return nil, "", err
		}
		return answer.Items, answer.NextCursor, nil
	})
}

// HistoryEntries lists the past and present holders of an address, with their times.
func (c *Carve) HistoryEntries(ctx context.Context, project string, params GetHistoryParams) iter.Seq2[HistoryEntry, error] {
	p := params
	return pages(p.Limit, p.Cursor, func(at place) ([]HistoryEntry, NextCursor, error) {
		p.Limit, p.Cursor = at.limit, at.cursor
		answer, err := c.GetHistory(ctx, project, p)
		if err != nil {
			return nil, "", err
		}
		return answer.Items, answer.NextCursor, nil
	})
}

// Regions lists the installation's regions. One request returns all of them.
func (c *Carve) Regions(ctx context.Context) iter.Seq2[Region, error] {
	return pages(nil, nil, func(place) ([]Region, NextCursor, error) {
		answer, err := c.ListRegions(ctx)
		if err != nil {
			return nil, "", err
		}
		return answer.Items, "", nil
	})
}

// valueOf copies the optional parameters. The methods then change only the copy while they fetch pages.
func valueOf[P any](params []P) (p P) {
	if len(params) > 0 {
		p = params[0]
	}
	return p
}

// Consumers lists a realm's consumers, including ended consumers.
func (c *Carve) Consumers(ctx context.Context, project, realm string, params ...ListConsumersParams) iter.Seq2[IPConsumer, error] {
	p := valueOf(params)
	return pages(p.Limit, p.Cursor, func(at place) ([]IPConsumer, NextCursor, error) {
		p.Limit, p.Cursor = at.limit, at.cursor
		answer, err := c.ListConsumers(ctx, project, realm, p)
		if err != nil {
			return nil, "", err
		}
		return answer.Items, answer.NextCursor, nil
	})
}

// ClaimConsumers lists a claim's consumers.
func (c *Carve) ClaimConsumers(ctx context.Context, project, claim string, params ...ListClaimConsumersParams) iter.Seq2[ConsumerAttachment, error] {
	p := valueOf(params)
	return pages(p.Limit, p.Cursor, func(at place) ([]ConsumerAttachment, NextCursor, error) {
		p.Limit, p.Cursor = at.limit, at.cursor
		answer, err := c.ListClaimConsumers(ctx, project, claim, p)
		if err != nil {
			return nil, "", err
		}
		return answer.Items, answer.NextCursor, nil
	})
}

// AlertRules lists a project's alert rules.
func (c *Carve) AlertRules(ctx context.Context, project string, params ...ListAlertRulesParams) iter.Seq2[AlertRule, error] {
	p := valueOf(params)
	return pages(p.Limit, p.Cursor, func(at place) ([]AlertRule, NextCursor, error) {
		p.Limit, p.Cursor = at.limit, at.cursor
		answer, err := c.ListAlertRules(ctx, project, p)
		if err != nil {
			return nil, "", err
		}
		return answer.Items, answer.NextCursor, nil
	})
}

// Alerts lists a project's current alerts.
func (c *Carve) Alerts(ctx context.Context, project string, params ...ListAlertsParams) iter.Seq2[Alert, error] {
	p := valueOf(params)
	return pages(p.Limit, p.Cursor, func(at place) ([]Alert, NextCursor, error) {
		p.Limit, p.Cursor = at.limit, at.cursor
		answer, err := c.ListAlerts(ctx, project, p)
		if err != nil {
			return nil, "", err
		}
		return answer.Items, answer.NextCursor, nil
	})
}

// Webhooks lists a project's webhooks.
func (c *Carve) Webhooks(ctx context.Context, project string, params ...ListWebhooksParams) iter.Seq2[Webhook, error] {
	p := valueOf(params)
	return pages(p.Limit, p.Cursor, func(at place) ([]Webhook, NextCursor, error) {
		p.Limit, p.Cursor = at.limit, at.cursor
		answer, err := c.ListWebhooks(ctx, project, p)
		if err != nil {
			return nil, "", err
		}
		return answer.Items, answer.NextCursor, nil
	})
}

// WebhookDeliveries lists a webhook's dead letters. A dead letter is a delivery that the server no longer tries to send.
func (c *Carve) WebhookDeliveries(ctx context.Context, project, webhook string, params ...ListWebhookDeliveriesParams) iter.Seq2[WebhookDelivery, error] {
	p := valueOf(params)
	return pages(p.Limit, p.Cursor, func(at place) ([]WebhookDelivery, NextCursor, error) {
		p.Limit, p.Cursor = at.limit, at.cursor
		answer, err := c.ListWebhookDeliveries(ctx, project, webhook, p)
		if err != nil {
			return nil, "", err
		}
		return answer.Items, answer.NextCursor, nil
	})
}
