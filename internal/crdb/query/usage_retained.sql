-- purpose: what a project holds within a scope without a claim, counted by length, and how many of those are IPv4
-- index:   allocations_retained_idx
-- rows:    what the project has retained
-- locks:   none
SELECT plen, count(*), sum(CASE length(base) WHEN 4 THEN 1::INT8 ELSE 0::INT8 END)::INT8
FROM allocations
WHERE region = $1 AND holder_project_id = $2 AND phase = 'Retained'
    AND ($3::TEXT = '' OR (pool_project = $3::TEXT AND pool_name = $4::TEXT)) AND ($5::INT8 = 0 OR length(base) = $5::INT8)
    AND ($6::TEXT = '' OR (class_project = $6::TEXT AND class_name = $7::TEXT))
GROUP BY plen
