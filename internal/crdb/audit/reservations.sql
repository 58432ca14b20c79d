-- purpose: the reservations in the specs of pools, with the blocks held for them; Go compares them
-- index:   none: the audit reads whole tables, in one snapshot, outside of the hot path
-- rows:    all pools and all reservations
-- locks:   none
-- region:  every, because an audit is about all of them
SELECT p.id::TEXT, p.base, p.plen, p.reservations, a.base, a.plen, a.doc::JSONB ->> 'y'
FROM pools AS p
LEFT JOIN holds AS a ON a.container_id = p.id AND a.purpose = 'Reservation'
WHERE p.reservations <> '[]'::JSONB OR a.id IS NOT NULL
ORDER BY p.id, a.base
