-- purpose: the versions (class_epoch) of projects' classes, to check whether a server's cache is current
-- index:   projects_name_key
-- rows:    the projects
-- locks:   none
SELECT o.id, o.name, o.class_epoch
FROM unnest($1::TEXT[]) AS k (name)
CROSS JOIN LATERAL (
    SELECT p.id, p.name, p.class_epoch
    FROM projects AS p
    WHERE p.name = k.name
    LIMIT 1
) AS o
