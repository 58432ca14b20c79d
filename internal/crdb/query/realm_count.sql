-- purpose: count the live consumers of a realm, and the consumers that were lost after one time and had expired after another
-- index:   consumers_live_idx, consumers_lost_idx
-- rows:    the realm's consumers in the region
-- locks:   none
SELECT
    (SELECT count(*) FROM consumers AS c WHERE c.region = $1 AND c.project_id = $2 AND c.realm = $3 AND c.ended_at IS NULL AND NOT c.draining) AS live,
    (
        SELECT count(*)
        FROM consumers AS l
        WHERE l.region = $1 AND l.project_id = $2 AND l.realm = $3 AND l.ended_at > $4 AND l.reason = 'Expired' AND l.expires_at > $5
    ) AS lost
