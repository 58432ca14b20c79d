-- purpose: the name of a webhook is unique in its project, which exists; every delivery has an existing webhook; a webhook has at most one delivery in progress; a leased webhook has a due time
-- index:   none: the audit reads whole tables, in one snapshot, outside of the hot path
-- rows:    all
-- locks:   none
-- region:  every, because an audit is about all of them
SELECT w.project_id::TEXT, count(*)::TEXT || ' webhooks are called ' || w.name
FROM webhooks AS w
GROUP BY w.project_id, w.name
HAVING count(*) > 1
UNION ALL
SELECT w.project_id::TEXT, 'webhook ' || w.name || ' of a project that is not there'
FROM webhooks AS w
WHERE NOT EXISTS (SELECT 1 FROM projects AS p WHERE p.id = w.project_id)
UNION ALL
SELECT w.project_id::TEXT, 'webhook ' || w.name || ' is sent to by somebody who never looks at it again'
FROM webhooks AS w
WHERE w.lease IS NOT NULL AND w.due_at IS NULL
UNION ALL
SELECT d.project_id::TEXT, 'delivery ' || d.id::TEXT || ' of a webhook that is not there'
FROM deliveries AS d
WHERE NOT EXISTS (SELECT 1 FROM webhooks AS w WHERE w.region = d.region AND w.project_id = d.project_id AND w.id = d.webhook_id)
UNION ALL
SELECT d.project_id::TEXT, count(*)::TEXT || ' deliveries are sent to webhook ' || d.webhook_id::TEXT || ' at once'
FROM deliveries AS d
WHERE d.dead_at IS NULL
GROUP BY d.project_id, d.webhook_id
HAVING count(*) > 1
