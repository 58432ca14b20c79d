-- purpose: the allocations of some blocks, each in its container
-- index:   holds_pkey
-- rows:    one for each block
-- locks:   none
-- CockroachDB looks rows up by = alone, and reads all behind the base for >= and <=. For = PostgreSQL takes another index on tables that it has not analysed,
-- but not for = IS TRUE, which are the same to CockroachDB.
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
