-- purpose: count the held blocks of a container by purpose
-- index:   holds_pkey
-- rows:    all held blocks of the container
-- locks:   none
SELECT purpose, phase, count(*)
FROM holds
WHERE region = $1 AND project_id = $2 AND container_id = $3
GROUP BY purpose, phase
