-- purpose: allocations that have cooled down, the longest past first
-- index:   allocations_cooled_idx
-- rows:    the limit
-- locks:   none
SELECT
    -- @columns allocation AS a
FROM allocations AS a
WHERE a.region = $1 AND a.phase = 'CoolingDown' AND a.cool_until <= $2
ORDER BY a.cool_until
LIMIT $3
