-- purpose: store responses; an idempotency key that is already stored, even an expired one, violates idempotency_keys_pkey
-- index:   idempotency_keys_pkey
-- rows:    one for each key
-- locks:   the new rows
-- shapes:  alike, one
INSERT INTO idempotency_keys (
    region,
    -- @columns answer
)
SELECT
    $1::crdb_internal_region,
    -- @values answer FROM $2
-- @from answer FROM $2
