-- purpose: what a project holds by claims within a scope, counted by region and length, and how many of those are IPv4
-- index:   regions_ordinal_key, claims_pkey
-- rows:    the project's claims
-- locks:   none
SELECT u.plen, u.blocks, u.four
FROM regions AS g
CROSS JOIN LATERAL (
    SELECT t.plen, count(*) AS blocks, sum(CASE length(t.base) WHEN 4 THEN 1::INT8 ELSE 0::INT8 END)::INT8 AS four
    FROM claims AS t
    WHERE t.region = g.name AND t.project_id = $1
        AND ($2::TEXT = '' OR (t.pool_project = $2::TEXT AND t.pool_name = $3::TEXT)) AND ($4::INT8 = 0 OR length(t.base) = $4::INT8)
        AND ($5::TEXT = '' OR (t.class_project = $5::TEXT AND t.class_name = $6::TEXT))
    GROUP BY t.plen
) AS u
WHERE g.ordinal >= 0
