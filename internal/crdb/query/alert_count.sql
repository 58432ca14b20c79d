-- purpose: count the alerts of a region by the kind of subject
-- index:   alerts_pkey
-- rows:    all alerts of the region
-- locks:   none
SELECT a.about, count(*)
FROM alerts AS a
WHERE a.region = $1
GROUP BY a.about
