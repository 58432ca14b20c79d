-- purpose: the allocations of given blocks that given projects hold by claims in pools of other projects, without those that are cooling down
-- index:   holds_borrowed_idx
-- rows:    one probe for each project and block, independent of the number of other pools; the limit for each
-- locks:   none
SELECT
    -- @columns held AS a
FROM unnest($2::UUID[]) AS w (holder_project_id)
CROSS JOIN unnest($3::BYTEA[], $4::INT2[]) AS k (base, plen)
CROSS JOIN LATERAL (
    SELECT
        -- @columns held AS b
    FROM holds AS b
    WHERE b.region = $1 AND b.holder_project_id = w.holder_project_id AND b.base = k.base AND b.plen = k.plen
        AND b.purpose = 'Claim' AND b.phase <> 'CoolingDown' AND b.holder_project_id <> b.project_id
    LIMIT $5
) AS a
WHERE a.project_id <> ALL ($2::UUID[])
LIMIT $5
