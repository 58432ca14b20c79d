-- purpose: the allocations of the given blocks in their containers
-- index:   holds_pkey
-- rows:    one for each block
-- locks:   none
-- CockroachDB looks up rows only with =; with >= and <= it reads all rows from the base on. With =, PostgreSQL uses another index on tables without statistics,
-- but not with = IS TRUE, which CockroachDB treats like =.
SELECT
    -- @columns held AS a
FROM unnest($2::UUID[], $3::UUID[], $4::BYTEA[], $5::INT2[]) AS k (project_id, container_id, base, plen)
CROSS JOIN LATERAL (
    SELECT
        -- @columns held AS b
    FROM holds AS b
    WHERE b.region = $1 AND b.project_id = k.project_id AND b.container_id = k.container_id AND b.base >= k.base AND b.base <= k.base AND (b.base = k.base) IS TRUE AND b.plen = k.plen
    ORDER BY b.base
    LIMIT 1
) AS a
