-- purpose: begin an alert
-- index:   alerts_pkey
-- rows:    1
-- locks:   the new row
INSERT INTO alerts (
    -- @columns alert
)
VALUES (
    -- @params alert FROM $1
)
