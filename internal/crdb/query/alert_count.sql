-- purpose: how many alerts there are in a region, by what they are about
-- index:   alerts_pkey
-- rows:    all of the region
-- locks:   none
SELECT a.about, count(*)
FROM alerts AS a
WHERE a.region = $1
GROUP BY a.about
