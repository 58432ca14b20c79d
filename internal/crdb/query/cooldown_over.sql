-- purpose: allocations whose cool-down is over, earliest end first
-- index:   holds_cooled_idx
-- rows:    the limit
-- locks:   none
SELECT
    -- @columns held AS a
FROM holds AS a
WHERE a.region = $1 AND a.phase = 'CoolingDown' AND a.cool_until <= $2
ORDER BY a.cool_until
LIMIT $3
