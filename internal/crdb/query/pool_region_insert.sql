-- purpose: begin to serve a pool in a region
-- index:   pool_regions_pkey
-- rows:    1
-- locks:   the new row
INSERT INTO pool_regions (
    -- @columns pool_region
)
VALUES (
    -- @params pool_region FROM $1
)
