-- purpose: the claims among the given ones (region, allocation, id) that exist
-- index:   holds_id_key
-- rows:    one probe for each claim
-- locks:   none
SELECT f.claim_id
FROM unnest($1::TEXT[], $2::UUID[], $3::UUID[]) AS k (region, id, claim_id)
CROSS JOIN LATERAL (
    SELECT h.claim_id
    FROM holds AS h
    WHERE h.region = k.region::crdb_internal_region AND h.id = k.id AND h.claim_id = k.claim_id
    LIMIT 1
) AS f
