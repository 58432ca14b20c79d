-- purpose: note that a project is gone whose trail and history are to be deleted
-- index:   removals_pkey
-- rows:    1
-- locks:   the new row
INSERT INTO removals (project_id)
VALUES ($1)
