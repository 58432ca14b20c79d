-- purpose: make every server read a project's classes and the pools behind them again
-- index:   projects_pkey
-- rows:    1
-- locks:   the row
UPDATE projects
SET class_epoch = $2
WHERE id = $1
