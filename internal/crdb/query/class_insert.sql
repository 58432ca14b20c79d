-- purpose: create a class
-- index:   classes_pkey
-- rows:    1
-- locks:   the new row
INSERT INTO classes (
    -- @columns class, class_key
)
VALUES (
    -- @params class, class_key FROM $1
)
