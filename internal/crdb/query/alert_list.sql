-- purpose: a page of a project's alerts after a given one, sorted by rule and subject
-- index:   alerts_pkey
-- rows:    the page
-- locks:   none
SELECT
    -- @columns alert AS w
FROM alerts AS w
WHERE w.region = $1 AND w.project_id = $2 AND (w.rule, w.subject) > ($3, $4)
ORDER BY w.rule, w.subject
LIMIT $5
