-- purpose: count the rows that were checked
-- index:   none: the audit reads whole tables, in one snapshot, outside of the hot path
-- rows:    all
-- locks:   none
-- region:  every, because an audit is about all of them
SELECT
    (SELECT count(*) FROM projects),
    (SELECT count(*) FROM spaces),
    (SELECT count(*) FROM pools),
    (SELECT count(*) FROM classes),
    (SELECT count(*) FROM pool_classes),
    (SELECT count(*) FROM holds),
    (SELECT count(*) FROM free_blocks),
    (SELECT count(*) FROM members),
    (SELECT count(*) FROM api_keys),
    (SELECT count(*) FROM grants),
    (SELECT count(*) FROM quotas),
    (SELECT count(*) FROM quota_shards),
    (SELECT count(*) FROM audit_events),
    (SELECT count(*) FROM history),
    (SELECT count(*) FROM removals),
    (SELECT count(*) FROM pool_regions),
    (SELECT count(*) FROM region_blocks),
    (SELECT count(*) FROM stocks),
    (SELECT count(*) FROM project_regions),
    (SELECT count(*) FROM fences),
    (SELECT count(*) FROM consumers),
    (SELECT count(*) FROM attachments),
    (SELECT count(*) FROM realms),
    (SELECT count(*) FROM webhooks),
    (SELECT count(*) FROM deliveries),
    (SELECT count(*) FROM alert_rules),
    (SELECT count(*) FROM alerts),
    (SELECT count(*) FROM utilization)
