-- purpose: end an alert
-- index:   alerts_pkey
-- rows:    1
-- locks:   the row
DELETE FROM alerts
WHERE region = $1 AND project_id = $2 AND rule = $3 AND subject = $4
