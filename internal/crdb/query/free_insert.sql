-- purpose: add free blocks
-- index:   free_blocks_pkey
-- rows:    one for each block
-- locks:   the new rows
INSERT INTO free_blocks (region, container_id, host_bits, base)
SELECT $1::crdb_internal_region, $2::UUID, k.host_bits, k.base
FROM unnest($3::INT2[], $4::BYTEA[]) AS k (host_bits, base)
